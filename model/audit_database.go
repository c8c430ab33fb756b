package model

import (
	"cmp"
	"strings"
)

// Row is a committed row of a database's table of enrollments: what was done last.
type Row struct {
	Key string // learner/course
	Op  string // "enrolled" or "dropped"
	LSN string // position of the change, in the order of commits
	Seq int64  // of the event that says so
}

// OutboxRow is a committed row of a database's outbox.
type OutboxRow struct {
	ID        int64 // drawn from a sequence when it was inserted
	Key, Op   string
	Source    string // its source_lsn: where the log stood at the insert
	Commit    string // position of the commit of its transaction
	Published bool
	Seq       int64 // of the event that says so
}

// Slot is a replication slot. The zero value says that the audit read none.
type Slot struct {
	State         string // "reserved", "unreserved", "lost" or "missing"
	Confirmed     string // position up to which its client has all; "": none
	Retained, Lag int64  // bytes of the log that it holds back, and after Confirmed
	Seq           int64  // of the event that says so
}

// Count returns what e counts under a name, 0 where it says nothing.
func (e *Event) Count(of string) int64 {
	for _, c := range e.Counts {
		if c.Of == of {
			return c.N
		}
	}
	return 0
}

// databaseRead folds in what the audit read of a database.
func (a *Audited) databaseRead(e *Event) {
	var r Record
	if len(e.Parts) > 0 && len(e.Parts[0].Records) > 0 {
		r = e.Parts[0].Records[0]
	}
	switch e.Op {
	case "row":
		a.Rows = append(a.Rows, Row{Key: e.Key, Op: r.Cell, LSN: e.LSN, Seq: e.Seq})
	case "outbox":
		a.Outbox = append(a.Outbox, OutboxRow{
			ID: r.Offset, Key: e.Key, Op: r.Cell, Source: r.ID, Commit: e.LSN,
			Published: e.Count("published") > 0, Seq: e.Seq,
		})
	case "slot":
		a.Slot = Slot{
			State: e.Note, Confirmed: e.LSN,
			Retained: e.Count("retained"), Lag: e.Count("lag"), Seq: e.Seq,
		}
	}
}

func (r Row) compare(o Row) int             { return strings.Compare(r.Key, o.Key) }
func (r OutboxRow) compare(o OutboxRow) int { return cmp.Compare(r.ID, o.ID) }
