package database

// Crash kills the server and brings it back. Sessions lose what they had open:
// transactions roll back, claims are released, the stream ends. What was committed
// stays. The slot is as it was on disk, so its confirmed position goes back, and the
// sequence of the outbox skips some ids.
func (db *DB) Crash() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.tick()
	db.abandon(func(*tx) bool { return true }, errBroken)
	if db.stream != nil {
		db.endStream(db.stream, errBroken)
	}
	db.lingering = 0
	db.id = db.logged
	s := &db.slot
	s.confirmed, s.restart = s.savedConfirmed, s.savedRestart
	s.ways = nil
	db.write(recordBytes)
	db.checkpoint() // recovery ends with one
	db.nextCheckpoint = db.now() + db.cfg.CheckpointEvery
}

// Failover makes a replica that has every commit the server. It is a crash for
// sessions. Slots are not replicated unless somebody sees to it: with loseSlot there
// is none afterwards.
func (db *DB) Failover(loseSlot bool) {
	db.Crash()
	if loseSlot {
		db.DropSlot()
	}
}

// DropSlot removes the slot; its stream ends.
func (db *DB) DropSlot() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.tick()
	if db.stream != nil {
		db.endStream(db.stream, errMissing)
	}
	db.slot = slot{}
}

// CreateSlot creates the slot, instead of the one that there may be. It sees what
// commits from now on: what is between an older one and this is in no stream.
func (db *DB) CreateSlot() {
	db.DropSlot()
	db.mu.Lock()
	defer db.mu.Unlock()
	db.slot = newSlot(db.end)
	db.lingering = 0
}

// Checkpoint has the server write a checkpoint now.
func (db *DB) Checkpoint() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.tick()
	db.checkpoint()
}

// Write has others write so many bytes to the log.
func (db *DB) Write(bytes int64) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.tick()
	db.write(bytes)
}

// Enrollment is a committed row of enrollment.
type Enrollment struct {
	Learner, Course string
	Op              string // of the last commit that wrote it
	LSN             string // position of that change
}

// Enrollments returns the committed rows of enrollment in the order of their first
// write.
func (db *DB) Enrollments() []Enrollment {
	db.mu.Lock()
	defer db.mu.Unlock()
	var all []Enrollment
	for _, r := range db.order {
		if r.op != "" {
			all = append(all, Enrollment{r.learner, r.course, r.op, r.at.text()})
		}
	}
	return all
}

// Published is a committed row of the outbox.
type Published struct {
	ID     int64
	Key    string // learner/course
	Op     string
	Source string // its source_lsn: where the log stood when it was inserted
	Commit string // position of the commit of its transaction
	Done   bool   // it is marked as published
}

// Outbox returns the committed rows of the outbox in the order of their ids.
func (db *DB) Outbox() []Published {
	db.mu.Lock()
	defer db.mu.Unlock()
	var all []Published
	for _, r := range db.outbox {
		if r.commit != nil {
			all = append(all, Published{
				ID: r.id, Key: r.key, Op: r.op, Source: r.at.text(),
				Commit: position{lsn: r.commit.lsn}.text(), Done: r.published,
			})
		}
	}
	return all
}

// SlotInfo is what the server knows of its slot. The positions are "" where there is
// no slot; the rest is in bytes, as [Session.Slot] returns it.
type SlotInfo struct {
	State              string
	Confirmed, Restart string
	Retained, Lag      int64
}

// Slot returns what the server knows of its slot.
func (db *DB) Slot() SlotInfo {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.tick()
	retained, lag := db.retained()
	return SlotInfo{
		State:     db.slotState(),
		Confirmed: position{lsn: db.slot.confirmed}.text(),
		Restart:   position{lsn: db.slot.restart}.text(),
		Retained:  retained, Lag: lag,
	}
}
