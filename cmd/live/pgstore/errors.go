package pgstore

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Error is an answer of the server that says that nothing was done, or that changes
// are gone.
type Error struct {
	// Code is PostgreSQL's SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html).
	Code string
	// Word says it in one word, for histories: "slot-active".
	Word string
	text string
}

// Error returns the server's words and the code.
func (e *Error) Error() string { return "postgres: " + e.text + " (SQLSTATE " + e.Code + ")" }

// SQLState returns the code.
func (e *Error) SQLState() string { return e.Code }

// Refusal returns the word: the server answered, and the statement was not done.
func (e *Error) Refusal() string { return e.Word }

// SlotLost reports whether changes are gone that the slot should have kept.
func (e *Error) SlotLost() bool { return e.Word == wordLost || e.Word == wordMissing }

// SlotActive reports whether another stream has the slot.
func (e *Error) SlotActive() bool { return e.Word == wordActive }

// SQLSTATEs that something is done about.
const (
	codeActive     = "55006" // object in use
	codeState      = "55000" // object not in prerequisite state: what a lost slot is
	codeMissing    = "42704" // undefined object
	codeAborted    = "25P02"
	codeDeadlock   = "40P01"
	codeUnknown    = "40003" // statement completion unknown
	codeConnection = "08"    // class: connection exceptions
)

const (
	wordActive  = "slot-active"
	wordLost    = "slot-lost"
	wordMissing = "slot-missing"
)

// words are those of the database in memory. The slot's are given where it is asked.
var words = map[string]string{codeDeadlock: "deadlock", codeAborted: "aborted"}

var (
	errAborted = &Error{codeAborted, "aborted", "the transaction had an error and was rolled back"}
	errMissing = &Error{codeMissing, wordMissing, "the slot does not exist"}
	errLost    = &Error{codeState, wordLost, "the slot was invalidated: " +
		"the log that it needs was removed"}
	errNewSlot = &Error{codeState, wordLost, "the slot was created after the position asked " +
		"for: the changes between are in no stream"}
	errMoved = &Error{codeState, wordLost, "the slot is further than it was told to confirm: it " +
		"was created anew, or moved, by somebody else, and the changes between are in no stream"}
	errAhead = &Error{codeState, wordLost, "the position asked for is after the end of the " +
		"log: it is another server's"}

	errNoTx     = errors.New("postgres: no such transaction: its connection is gone")
	errBusy     = errors.New("postgres: the transaction is in another call")
	errNoClaim  = errors.New("postgres: no such claim: its connection is gone")
	errNoStream = errors.New("postgres: there is no stream: open one")
	errBroken   = errors.New("postgres: the connection was broken")
	errClosed   = errors.New("postgres: the store is closed")
	errMaking   = errors.New("postgres: the slot is being created, or its creation was " +
		"broken off: create it again")
)

// say gives an error its meaning. doing says what was being done.
func say(doing string, err error) error {
	if err == nil {
		return nil
	}
	if answer := refused(err); answer != nil {
		err = answer
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// refused returns the server's answer where it means that nothing was done. What is more
// than an error ends the connection, and may come while a commit is under way. Before
// there is a connection nothing is.
func refused(err error) *Error {
	var pg *pgconn.PgError
	var connecting *pgconn.ConnectError
	if !errors.As(err, &pg) {
		return nil
	}
	severity := pg.SeverityUnlocalized
	if severity == "" {
		severity = pg.Severity
	}
	over := severity != "ERROR" || pg.Code == codeUnknown ||
		strings.HasPrefix(pg.Code, codeConnection)
	if over && !errors.As(err, &connecting) {
		return nil
	}
	word := words[pg.Code]
	if word == "" {
		word = "sqlstate-" + pg.Code
	}
	return &Error{pg.Code, word, pg.Message}
}
