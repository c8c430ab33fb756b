// Package pgstore is the database of the hops on PostgreSQL 14 or later: the tables
// enrollment and outbox, and a logical replication slot, in a schema of their own for
// every run.
//
// # What an error means
//
// Nothing is sent again behind the caller's back. An error of the server that ended a
// statement, and no more than that, has a Refusal: nothing was done. Everything else is
// unknown: a connection that broke, also one that the server closed with an error of
// its own, and a context that ended. Its transaction, claim or stream is gone then.
//
// # Claims of whole keys
//
// "For update skip locked" gives two pollers rows of one key, and then they append its
// changes in the wrong order. So a claim takes an advisory lock of every key first, and
// reads the rows in a later statement. That statement's snapshot is newer than the
// locks, and a transaction lets its locks go after its commit is visible; so it sees
// what every earlier claim of these keys marked or gave back, and no other claim
// touches them while it lasts. One statement that tries the locks while it reads would
// be wrong: a poller that passes row 1 of a key, as it is claimed, and is at row 2 when
// that claim is rolled back, would get row 2 before row 1. Nor can the server's own
// re-check of a row that was updated meanwhile (EvalPlanQual) bring a row back that
// was passed. Two keys with one hash only wait for each other.
//
// # The slot
//
// The server forgets confirmations when it crashes, ignores that somebody asks for an
// older position, and knows nothing of a slot that was dropped and created again. So the
// table slot keeps three things: where the slot began, how far it was ever told to
// confirm, written before it is told, and the last position confirmed. A slot that is
// further than it was told has been created anew, or moved, by somebody else: changes
// are gone.
//
// # Reading order
//
// schema.go: what a run makes, and its removal. store.go: connections. tx.go: the
// application's side. outbox.go: the poller's. slot.go, stream.go, decode.go: the log
// publisher's. witness.go and audit.go: what a history is told.
package pgstore
