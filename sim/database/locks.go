package database

import "slices"

// row is a row of enrollment, or the place of one that nobody committed yet.
type row struct {
	learner, course, key string

	op string   // as committed last, "" where it never was
	at position // of that commit

	holder *tx
	queue  []*wait
}

// wait is a statement that waits for a row.
type wait struct {
	tx   *tx
	row  *row
	op   string
	done chan error // has room for its one answer
}

func (db *DB) row(learner, course string) *row {
	key := learner + "/" + course
	r := db.rows[key]
	if r == nil {
		r = &row{learner: learner, course: course, key: key}
		db.rows[key] = r
		db.order = append(db.order, r)
	}
	return r
}

// lock writes op into r as soon as t has its lock. It returns what to wait for, or
// nil and how it ended.
func (db *DB) lock(t *tx, r *row, op string) (*wait, error) {
	if r.holder == nil || r.holder == t {
		db.update(t, r, op)
		return nil, nil
	}
	// Whoever holds r may wait for another, and so on; only t can close the circle.
	for h := r.holder; h != nil; h = h.waiting.row.holder {
		if h == t {
			db.fail(t)
			return nil, errDeadlock
		}
		if h.waiting == nil {
			break
		}
	}
	w := &wait{tx: t, row: r, op: op, done: make(chan error, 1)}
	t.waiting = w
	r.queue = append(r.queue, w)
	return w, nil
}

func (db *DB) update(t *tx, r *row, op string) {
	if r.holder == nil {
		r.holder = t
		t.locks = append(t.locks, r)
	}
	lsn := db.write(db.cfg.RowBytes)
	db.wrote(t, lsn)
	t.writes = append(t.writes, written{row: r, op: op, lsn: lsn})
}

// unlock frees what t holds. The next in line writes here and not in its own
// goroutine: several may wake at one instant, and the log has one order.
func (db *DB) unlock(t *tx) {
	locks := t.locks
	t.locks = nil
	for _, r := range locks {
		r.holder = nil
		if len(r.queue) == 0 {
			continue
		}
		w := r.queue[0]
		r.queue = r.queue[1:]
		w.tx.waiting = nil
		db.update(w.tx, r, w.op)
		w.done <- nil
	}
}

// leave takes w out of its queue and answers it.
func (w *wait) leave(err error) {
	w.tx.waiting = nil
	i := slices.Index(w.row.queue, w)
	w.row.queue = slices.Delete(w.row.queue, i, i+1)
	w.done <- err
}
