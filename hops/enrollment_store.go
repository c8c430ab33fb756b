package hops

import "context"

// EnrollmentStore is what a [Registrar] needs from the database: transactions. The
// signatures of this file use only built-in types, so an adapter need not import
// this package. A store must be safe for concurrent use, and its calls must return
// when their context ends.
//
// An error of any call but Commit leaves a transaction that was not committed and
// never will be. An error of Commit means unknown.
type EnrollmentStore interface {
	// Begin opens a transaction.
	Begin(ctx context.Context) (tx uint64, err error)
	// Enroll writes the enrollment's row and takes its lock; it waits for another
	// transaction that holds it.
	Enroll(ctx context.Context, tx uint64, learner, course, op string) error
	// Publish inserts the change into the outbox. Its id is drawn now and is visible
	// at the commit.
	Publish(ctx context.Context, tx uint64, learner, course, op string) error
	// Commit ends the transaction. An error means unknown: committed or not.
	Commit(ctx context.Context, tx uint64) error
	// Rollback ends it without effect. A transaction that is over is no error.
	Rollback(ctx context.Context, tx uint64) error
}

// Outbox is what a [Poller] needs from the database. A claim lives in one session:
// when the session dies, the claim is released by the server, and its rows can be
// claimed again.
//
// SELECT ... FOR UPDATE SKIP LOCKED alone is not enough for two pollers: it would
// give the second row of a key to one while the other has yet to publish the first.
type Outbox interface {
	// Claim locks up to limit unpublished, committed rows, oldest id first, except
	// rows of a key that another claim holds. Claim 0 without an error: there are
	// none. After an error nothing stays claimed once its session is gone.
	Claim(ctx context.Context, limit int) (
		claim uint64, keys []string, values [][]byte, err error)
	// Mark marks the claimed rows as published and commits. An error means unknown:
	// marked, or still claimed, or released.
	Mark(ctx context.Context, claim uint64) error
	// Release gives the rows back unmarked. A claim that is over is no error.
	Release(ctx context.Context, claim uint64) error
}

// ChangeLog is what a [LogPublisher] needs from the database: a replication slot.
// Positions are text that sorts as its order; see [Enrollment].
//
// An error whose chain has a method SlotLost() bool that returns true says that the
// slot is lost, missing, or was created anew after the position asked for, so that
// changes are gone. One with SlotActive() bool true says that another session
// streams from the slot.
type ChangeLog interface {
	// Stream begins to stream from what the slot has confirmed, or after from where
	// that is later ("" never is). It ends the stream before, if there was one.
	Stream(ctx context.Context, from string) error
	// Next returns the next change in the order of commits, or a keepalive: no key,
	// and how far the server has sent, which is past every change before it. It
	// returns within 10 s. What the server asks of a reader to keep the session
	// alive is the adapter's to answer, with what was confirmed last.
	Next(ctx context.Context) (lsn, key string, value []byte, err error)
	// Confirm says that everything up to lsn is durable elsewhere, so that the slot
	// may let go of it. If lsn is inside a transaction, the rest of it must still be
	// sent again. An error means unknown.
	Confirm(ctx context.Context, lsn string) error
}

// SlotWatch is what a [SlotMonitor] needs from the database.
type SlotWatch interface {
	// Slot returns the slot's state, "reserved", "unreserved", "lost" or "missing",
	// the bytes of WAL that it holds back (from its restart LSN to the end), and the
	// bytes from its confirmed LSN to the end.
	Slot(ctx context.Context) (state string, retained, lag int64, err error)
}
