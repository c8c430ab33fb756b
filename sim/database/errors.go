package database

import "errors"

// Error is what the server answers a statement with.
type Error struct {
	// Code is PostgreSQL's SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).
	Code string
	// Word says it in one word, for histories: "slot-active".
	Word string
	text string
}

// Error returns the server's words and the code.
func (e *Error) Error() string { return "database: " + e.text + " (SQLSTATE " + e.Code + ")" }

// SQLState returns the code.
func (e *Error) SQLState() string { return e.Code }

// Refusal returns the word: the server answered, and the statement was not done.
func (e *Error) Refusal() string { return e.Word }

// SlotLost reports whether changes are gone that the slot should have kept.
func (e *Error) SlotLost() bool { return e.Word == "slot-lost" || e.Word == "slot-missing" }

// SlotActive reports whether another stream has the slot.
func (e *Error) SlotActive() bool { return e == errActive }

// What the server answers. Of a transaction that is gone it says nothing: the
// connection was, and whoever asked knows no more than before.
var (
	errDeadlock = &Error{"40P01", "deadlock", "deadlock detected"}
	errAborted  = &Error{"25P02", "aborted", "the transaction had an error and was rolled back"}
	errActive   = &Error{"55006", "slot-active", "the slot is active for another stream"}
	errLost     = &Error{"55000", "slot-lost", "the slot was invalidated: " +
		"the log that it needs was removed"}
	errMissing = &Error{"42704", "slot-missing", "the slot does not exist"}
	errNewSlot = &Error{"55000", "slot-lost", "the slot was created after the position " +
		"asked for: the changes between are in no stream"}

	errNoTx     = errors.New("database: no such transaction: its connection is gone")
	errBusy     = errors.New("database: the transaction waits in another call")
	errNoClaim  = errors.New("database: no such claim: its connection is gone")
	errNoStream = errors.New("database: there is no stream: open one")
	errBroken   = errors.New("database: the connection was closed by the server")
	errClosed   = errors.New("database: the session is closed")
)
