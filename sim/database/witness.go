package database

// What a session knows and no statement returns. These are for a history and for
// tests, may be called at any time, and are no statements: they cross no connection.

// Committed returns the position of the commit of a transaction or of a claim, ""
// where there was none.
func (s *Session) Committed(handle uint64) string {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if t := s.all[handle]; t != nil && t.commit != nil {
		return position{lsn: t.commit.lsn}.text()
	}
	return ""
}

// Rows returns the outbox rows that a transaction inserted or a claim holds: their
// ids, and their source_lsn.
func (s *Session) Rows(handle uint64) (ids []int64, lsns []string) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if t := s.all[handle]; t != nil {
		for _, r := range t.rows {
			ids = append(ids, r.id)
			lsns = append(lsns, r.at.text())
		}
	}
	return ids, lsns
}

// Confirmed returns the slot's confirmed position, "" where there is no slot.
func (s *Session) Confirmed() string { return s.db.Slot().Confirmed }

// RowLSN returns the position of the row's own record for a change of the stream,
// which is written before its transaction commits, and "" for any other position.
// Of interleaved transactions it is another order than that of the commits.
func (s *Session) RowLSN(lsn string) string {
	at, err := parsePosition(lsn)
	if err != nil || at.nth == 0 {
		return ""
	}
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	c := s.db.after(position{at.lsn, at.nth - 1})
	if c == nil || c.at != at {
		return ""
	}
	return position{c.row, at.nth}.text()
}

// Drop breaks the connection of a transaction or a claim: it is rolled back. With 0
// it breaks that of the stream.
func (s *Session) Drop(handle uint64) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.db.tick()
	if handle == 0 {
		if s.stream != nil {
			s.db.endStream(s.stream, errBroken)
			s.db.lingering = s.db.now() + lingers
		}
		return
	}
	if t := s.all[handle]; t != nil && !t.ended {
		s.db.drop(t, errBroken)
	}
}
