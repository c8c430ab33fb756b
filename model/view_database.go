package model

// tables is what the view knows of a database.
type tables struct {
	committed, marked map[int64]bool // rows of the outbox, by id
	pending           int            // rows that are committed and not marked
	last              string         // position of the last change that committed
	confirmed         string         // of the slot
	by                int64          // which call said so
}

func newTables() tables {
	return tables{committed: map[int64]bool{}, marked: map[int64]bool{}}
}

// database folds in what a database answered.
func (v *View) database(e *Event) {
	t := &v.tables
	switch e.Op {
	case "commit":
		for i := range e.Parts {
			for j := range e.Parts[i].Records {
				r := &e.Parts[i].Records[j]
				switch {
				case e.Parts[i].Topic == "outbox" && e.LSN != "":
					t.commit(r.Offset)
				case e.Parts[i].Topic == "enrollment":
					t.last = max(t.last, r.ID)
				}
			}
		}
	case "mark":
		for i := range e.Parts {
			for j := range e.Parts[i].Records {
				t.mark(e.Parts[i].Records[j].Offset)
			}
		}
	case "confirm":
		if e.Took() >= t.by && e.LSN > t.confirmed {
			t.confirmed = e.LSN
		}
	}
}

// commit and mark may come in any order: a mark is answered at once, and the answer
// to a commit may be long on its way.
func (t *tables) commit(id int64) {
	if id >= 0 && !t.committed[id] {
		t.committed[id] = true
		if !t.marked[id] {
			t.pending++
		}
	}
}

func (t *tables) mark(id int64) {
	if id >= 0 && !t.marked[id] {
		t.marked[id] = true
		if t.committed[id] {
			t.pending--
		}
	}
}

// Unpublished returns how many rows of the outbox are known to be committed and not
// known to be marked as published.
func (v *View) Unpublished() int { return v.tables.pending }

// LastChange returns the position of the last change of enrollment that is known to
// be committed, "" for none.
func (v *View) LastChange() string { return v.tables.last }

// Confirmed returns the position up to which a client of the replication slot has
// confirmed, "" for none. It goes back when the server does, in a crash.
func (v *View) Confirmed() string { return v.tables.confirmed }
