// Package database is a database in memory that is honest about PostgreSQL where
// hops meet it: ids of a sequence that become visible out of order, rows that are
// locked, a write-ahead log with positions, and a logical replication slot that
// holds the log back, goes back after a crash of the server, and can be lost.
//
// It keeps two tables. "enrollment" has one row per learner and course: what was
// done last, "enrolled" or "dropped". "outbox" has one row per change, published or
// not. The slot streams the changes of enrollment.
//
// What is simplified. A transaction reads nothing, so there is one isolation level.
// A deadlock is found at once, by the transaction that closes the circle; PostgreSQL
// waits for deadlock_timeout first and may pick another. Row locks are granted in the
// order in which they were asked for. There is one slot.
//
// Time is that of the package time: virtual inside a bubble of testing/synctest. It
// starts no goroutine, draws no random number, and what it does depends on the order
// of its calls and the time alone. What the real server does was measured on
// PostgreSQL 15 and 18, and is in the documentation of the names here.
//
// Read database.go, then tx.go and locks.go (the application's side), outbox.go (the
// poller's), slot.go and stream.go (the log publisher's).
package database
