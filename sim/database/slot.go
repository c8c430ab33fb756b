package database

import "context"

// slot is the logical replication slot.
type slot struct {
	there bool
	lost  bool
	// confirmed: all that commits before this LSN is durable at the client's side.
	// restart: what decoding needs to begin from, and what holds the log back.
	// created: where it began to see anything.
	confirmed, restart, created uint64
	// The same as they are on disk, which is what a crash of the server leaves.
	savedConfirmed, savedRestart uint64
	// ways are places from which decoding could restart, oldest first.
	ways []way
}

// way: once the client has confirmed up to valid, decoding may restart from here.
type way struct{ valid, restart uint64 }

func newSlot(at uint64) slot {
	return slot{
		there: true, confirmed: at, restart: at, created: at,
		savedConfirmed: at, savedRestart: at,
	}
}

func (s *slot) save() { s.savedConfirmed, s.savedRestart = s.confirmed, s.restart }

// snapshot logs which transactions run. From there, or from the oldest of them that
// has written, a decoder could begin.
func (db *DB) snapshot() {
	if db.snapped == db.end {
		return // nothing was written since the last one
	}
	w := way{valid: db.end, restart: db.end}
	for _, t := range db.open {
		if t.xid != 0 {
			w.restart = min(w.restart, t.first)
		}
	}
	db.slot.ways = append(db.slot.ways, w)
	db.write(recordBytes)
	db.snapped = db.end
}

// checkpoint writes the slot to disk and removes log that nothing keeps. A slot that
// keeps more than it may is lost.
func (db *DB) checkpoint() {
	s := &db.slot
	if db.slotState() == "unreserved" {
		s.lost = true
		if db.stream != nil {
			db.endStream(db.stream, errLost)
		}
	}
	s.save()
}

// confirm moves the slot on, never back. Where that lets decoding restart later, the
// slot is written to disk.
func (db *DB) confirm(lsn uint64) {
	s := &db.slot
	s.confirmed = max(s.confirmed, min(lsn, db.end))
	for len(s.ways) > 0 && s.ways[0].valid <= s.confirmed {
		s.restart = max(s.restart, s.ways[0].restart)
		s.ways = s.ways[1:]
		s.save()
	}
}

// slotState names the state: "reserved" covers PostgreSQL's "extended" too.
func (db *DB) slotState() string {
	s := &db.slot
	switch {
	case !s.there:
		return "missing"
	case s.lost:
		return "lost"
	case db.cfg.Keep > 0 && int64(db.end-s.restart) > db.cfg.Keep:
		return "unreserved"
	}
	return "reserved"
}

// retained and lag are in bytes; a slot that is lost holds nothing back.
func (db *DB) retained() (retained, lag int64) {
	s := &db.slot
	if !s.there {
		return 0, 0
	}
	if !s.lost {
		retained = int64(db.end - s.restart)
	}
	return retained, int64(db.end - s.confirmed)
}

// Slot returns the state of the slot, "reserved", "unreserved" (it keeps more than it
// may, and is lost at the next checkpoint), "lost" or "missing"; how many bytes of the
// log it holds back; and how many there are after what was confirmed. The first of
// the two may stay after a full drain: the slot gives log back in steps.
func (s *Session) Slot(context.Context) (state string, retained, lag int64, err error) {
	if err := s.begin(); err != nil {
		return "", 0, 0, err
	}
	defer s.db.mu.Unlock()
	retained, lag = s.db.retained()
	return s.db.slotState(), retained, lag, nil
}
