package database

import (
	"cmp"
	"context"
	"slices"
)

// outboxRow is a row of the outbox.
type outboxRow struct {
	id        int64
	by        *tx // who inserted it
	key, op   string
	at        position // where the log stood at the insert: its source_lsn
	value     []byte
	commit    *commit // nil: not committed, so nobody else sees it
	published bool
	claim     *tx // who has it locked
}

// ahead is how far a sequence goes on in memory before the log hears of it again. A
// crash of the server skips the rest, so ids have holes.
const ahead = 32

func (db *DB) nextID() int64 {
	db.id++
	if db.id > db.logged {
		db.logged = db.id + ahead
	}
	return db.id
}

// Claim locks up to limit rows that are committed and not published, oldest id
// first. It leaves out rows that are locked, and rows of a key that another claim
// holds: two pollers that work on one key could append its changes in the wrong
// order. The claim is 0 where there is nothing to do.
func (s *Session) Claim(_ context.Context, limit int) (
	claim uint64, keys []string, values [][]byte, err error,
) {
	return s.claim(limit, true)
}

// ClaimRows is [Session.Claim] with "for update skip locked" alone: it hands out
// other rows of a key that another claim holds.
func (s *Session) ClaimRows(_ context.Context, limit int) (
	claim uint64, keys []string, values [][]byte, err error,
) {
	return s.claim(limit, false)
}

func (s *Session) claim(limit int, wholeKeys bool) (
	claim uint64, keys []string, values [][]byte, err error,
) {
	if err := s.begin(); err != nil {
		return 0, nil, nil, err
	}
	defer s.db.mu.Unlock()
	busy := make(map[string]bool)
	for _, r := range s.db.outbox {
		if r.claim != nil && wholeKeys {
			busy[r.key] = true
		}
	}
	var rows []*outboxRow
	for _, r := range s.db.outbox {
		free := r.commit != nil && !r.published && r.claim == nil && !busy[r.key]
		if free && len(rows) < limit {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return 0, nil, nil, nil
	}
	t := s.newTx()
	t.claim, t.rows = true, rows
	s.db.wrote(t, s.db.write(recordBytes)) // a lock is in the log too
	for _, r := range rows {
		r.claim = t
		keys = append(keys, r.key)
		values = append(values, slices.Clone(r.value))
	}
	return t.handle, keys, values, nil
}

func (s *Session) openClaim(handle uint64) *tx {
	if t := s.all[handle]; t != nil && t.claim && !t.ended {
		return t
	}
	return nil
}

// Mark marks the rows of a claim as published and commits.
func (s *Session) Mark(_ context.Context, claim uint64) error {
	if err := s.begin(); err != nil {
		return err
	}
	db := s.db
	defer db.mu.Unlock()
	t := s.openClaim(claim)
	if t == nil {
		return errNoClaim
	}
	for range t.rows {
		db.write(db.cfg.RowBytes)
	}
	db.apply(t)
	db.finish(t)
	return nil
}

// Release gives the rows of a claim back. One that is gone holds none.
func (s *Session) Release(_ context.Context, claim uint64) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.db.mu.Unlock()
	if t := s.openClaim(claim); t != nil {
		s.db.finish(t)
	}
	return nil
}

// After returns up to limit committed rows whose id is greater than last, published
// or not, in the order of their ids: how pollers read that keep a cursor. A row with
// a smaller id may become visible later, and is then passed for good.
func (s *Session) After(_ context.Context, last int64, limit int) (
	ids []int64, keys []string, values [][]byte, err error,
) {
	if err := s.begin(); err != nil {
		return nil, nil, nil, err
	}
	defer s.db.mu.Unlock()
	for _, r := range s.db.outbox {
		if r.commit != nil && r.id > last && len(ids) < limit {
			ids = append(ids, r.id)
			keys = append(keys, r.key)
			values = append(values, slices.Clone(r.value))
		}
	}
	return ids, keys, values, nil
}

// Horizon returns up to limit committed rows whose pair of transaction and id is
// greater than (xid, id), in that order, and whose transaction is older than every
// one that is open and has written. Nothing older can follow, so this cursor passes
// nothing; it stands still behind any open transaction that writes.
func (s *Session) Horizon(_ context.Context, xid uint64, id int64, limit int) (
	xids []uint64, ids []int64, keys []string, values [][]byte, err error,
) {
	if err := s.begin(); err != nil {
		return nil, nil, nil, nil, err
	}
	defer s.db.mu.Unlock()
	oldest := s.db.xid + 1
	for _, t := range s.db.open {
		if t.xid != 0 {
			oldest = min(oldest, t.xid)
		}
	}
	rows := slices.Clone(s.db.outbox)
	slices.SortStableFunc(rows, func(a, b *outboxRow) int {
		return cmp.Compare(a.by.xid, b.by.xid)
	})
	for _, r := range rows {
		later := r.by.xid > xid || r.by.xid == xid && r.id > id
		if r.commit != nil && later && r.by.xid < oldest && len(ids) < limit {
			xids = append(xids, r.by.xid)
			ids = append(ids, r.id)
			keys = append(keys, r.key)
			values = append(values, slices.Clone(r.value))
		}
	}
	return xids, ids, keys, values, nil
}
