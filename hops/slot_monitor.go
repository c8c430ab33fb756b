package hops

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// What an [Alert] of a [SlotMonitor] is about: the state that it found the slot in.
const (
	// AlertSlotLimit says that the slot holds back more WAL than the limit.
	AlertSlotLimit = "slot-limit"
	// AlertSlotUnreserved says that the server may remove WAL that the slot needs.
	AlertSlotUnreserved = "slot-unreserved"
	// AlertSlotLost says that the server has removed it: changes are gone.
	AlertSlotLost = "slot-lost"
	// AlertSlotMissing says that there is no slot: nothing holds changes back.
	AlertSlotMissing = "slot-missing"
	// AlertSlotUnknown says that the slot's state could not be found out.
	AlertSlotUnknown = "slot-unknown"
	// AlertSlotFine says that a slot that was alerted of is fine again.
	AlertSlotFine = "slot-fine"
)

// SlotMonitorConfig says what a [SlotMonitor] watches. Watch and Limit are
// required; zero values of the rest mean the defaults written here.
type SlotMonitorConfig struct {
	// Watch tells of the slot.
	Watch SlotWatch
	// Limit is how many bytes of WAL the slot may hold back, below what the disk has
	// room for and below max_slot_wal_keep_size.
	Limit int64
	// Every is the time between two looks, and so how late an alert can be when the
	// server answers. Default 30 s.
	Every time.Duration
	// Remind is how often a state that stays is alerted of again. Default 1 hour.
	Remind time.Duration
	// Retries is how many failed looks in a row are no alert yet. Default 2;
	// negative means none.
	Retries int
	// CallTimeout bounds one look. Default 10 s.
	CallTimeout time.Duration
	// Alert hears what an operator must know. It is called from Run and must not
	// block.
	Alert func(Alert)
}

// SlotMonitor watches a replication slot. A publisher that never comes back loses
// nothing, but the slot holds WAL back for it until the disk is full, or until the
// server gives the slot up: it is the monitor that says so in time. Build one with
// [NewSlotMonitor]; call Run once.
type SlotMonitor struct {
	cfg     SlotMonitorConfig
	started atomic.Bool
	failed  int       // looks in a row
	state   string    // the last one alerted of, or ""
	told    time.Time // when
}

// NewSlotMonitor returns a monitor. It fails when the configuration cannot work.
func NewSlotMonitor(cfg SlotMonitorConfig) (*SlotMonitor, error) {
	if cfg.Watch == nil || cfg.Limit <= 0 || cfg.Alert == nil {
		return nil, errors.New("slot monitor: Watch, Limit and Alert are required")
	}
	cfg.Every = orDefault(cfg.Every, 30*time.Second)
	cfg.Remind = orDefault(cfg.Remind, time.Hour)
	cfg.Retries = orDefault(cfg.Retries, 2)
	cfg.CallTimeout = orDefault(cfg.CallTimeout, 10*time.Second)
	if min(cfg.Every, cfg.Remind, cfg.CallTimeout) < 0 {
		return nil, errors.New("slot monitor: durations must not be negative")
	}
	return &SlotMonitor{cfg: cfg}, nil
}

// Run looks until ctx ends, then returns nil. It raises an alert when the state
// changes, also back to fine, and again every Remind while it is not fine.
func (m *SlotMonitor) Run(ctx context.Context) error {
	if m.started.Swap(true) {
		return errors.New("slot monitor: Run was called before")
	}
	for ctx.Err() == nil {
		if state, detail := m.look(ctx); ctx.Err() == nil {
			m.tell(state, detail)
			sleep(ctx, m.cfg.Every)
		}
	}
	return nil
}

// look asks once and returns the worst that is true of the slot, or "" when a
// failed look is not worth an alert yet.
func (m *SlotMonitor) look(ctx context.Context) (state, detail string) {
	call, cancel := context.WithTimeout(ctx, m.cfg.CallTimeout)
	defer cancel()
	found, retained, lag, err := m.cfg.Watch.Slot(call)
	if err != nil {
		if m.failed++; m.failed <= m.cfg.Retries {
			return "", ""
		}
		return AlertSlotUnknown, fmt.Sprintf("%d looks in a row failed: %v", m.failed, err)
	}
	m.failed = 0
	detail = fmt.Sprintf("the slot is %s, holds back %d bytes of WAL, of at most %d, and its "+
		"reader is %d bytes behind", found, retained, m.cfg.Limit, lag)
	switch found {
	case "missing":
		return AlertSlotMissing, "there is no slot, so no change is kept for its reader"
	case "lost":
		return AlertSlotLost, detail + ": changes are gone, publish a new snapshot"
	case "unreserved":
		return AlertSlotUnreserved, detail + ": it is lost at the next checkpoint unless its " +
			"reader catches up"
	case "reserved", "extended": // PostgreSQL's word for more than max_wal_size
		// Both are looked at: a server can hold back more than the reader has to read.
		if max(retained, lag) >= m.cfg.Limit {
			return AlertSlotLimit, detail
		}
		return AlertSlotFine, detail
	}
	return AlertSlotUnknown, detail
}

// tell raises the alert of a state that is new, or that was told of long ago.
func (m *SlotMonitor) tell(state, detail string) {
	now := time.Now()
	switch {
	case state == "":
		return
	case state == AlertSlotFine:
		if m.state == "" || m.state == AlertSlotFine {
			return
		}
	case state == m.state && now.Sub(m.told) < m.cfg.Remind:
		return
	}
	m.state, m.told = state, now
	m.cfg.Alert(Alert{Hop: "slot monitor", What: state, Detail: detail})
}
