//go:build synctests

package hops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

const enrollments = "learning.enrollment"

// office is a world with the enrollment topic and a database.
type office struct {
	*pipe
	db *registry
}

func inOffice(t *testing.T, partitions int32, test func(*testing.T, *office)) {
	inPipe(t, 1, func(t *testing.T, p *pipe) {
		if err := p.cluster.CreateTopic(enrollments, partitions, nil); err != nil {
			t.Fatal(err)
		}
		db := &registry{t: t, held: make(map[uint64]*session), acked: make(map[string]bool)}
		db.commits = make(chan struct{})
		test(t, &office{p, db})
	})
}

// registry is a database: committed changes, an outbox that is marked, and a slot
// that is confirmed. Every call may be answered by a fate that a test scripts.
type registry struct {
	t *testing.T

	mu        sync.Mutex
	changes   []Enrollment
	commits   chan struct{} // closed at the next commit
	marked    int
	rows      []uint64 // of each change the claim that holds it; done when marked
	held      map[uint64]*session
	claims    uint64
	confirmed string
	active    *session
	lost      bool

	froms []string // of each stream
	calls []string
	fates func(nth int, op string) dbFate
	acked map[string]bool // values that Kafka has acknowledged
}

const done = ^uint64(0)

type dbFate int

const (
	dbAnswers dbFate = iota
	dbRefuses        // nothing is done, and the session goes on
	dbDrops          // nothing is done, and the session dies
	dbForgets        // it is done, the session dies, and nobody hears of it
	dbCrashes        // nothing is done, and the process dies
	dbLeaves         // it is done, and the process dies
	dbHangs          // nothing is done, and nobody answers until the caller gives up
)

var errDatabase = errors.New("the connection is gone")

// session is what one life of a publisher has of the database.
type session struct {
	db    *registry
	crash func() // kills the process
	dead  bool
	next  int // of the stream
}

// lsnOf is the LSN of the nth change, and past all before it.
func lsnOf(n int) string { return fmt.Sprintf("%016X/%08X", 0x1000+n/2*0x10, 1+n%2) }

func (db *registry) commit(learner, course, op string) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.changes = append(db.changes, Enrollment{learner, course, op, lsnOf(len(db.changes))})
	db.rows = append(db.rows, 0)
	close(db.commits)
	db.commits = make(chan struct{})
}

// fill commits n changes of three enrollments, ada's most of all.
func (db *registry) fill(n int) {
	for range n {
		i := len(db.changes)
		op := OpEnrolled
		if i/3%2 == 1 {
			op = OpDropped
		}
		db.commit([]string{"ada", "ada", "bob", "ada", "eve"}[i%5], "go-101", op)
	}
}

// call answers one call as fate wills. Apply is under the lock.
func (s *session) call(ctx context.Context, op string, apply func() error) error {
	db := s.db
	db.mu.Lock()
	defer db.mu.Unlock()
	if s.dead {
		return errDatabase
	}
	db.calls = append(db.calls, op)
	fate := dbAnswers
	if db.fates != nil {
		fate = db.fates(len(db.calls), op)
	}
	switch fate {
	case dbRefuses:
		return errors.New("try again later")
	case dbHangs:
		db.mu.Unlock()
		<-ctx.Done()
		db.mu.Lock()
		s.end()
		return ctx.Err()
	}
	err := error(nil)
	if fate == dbAnswers || fate == dbForgets || fate == dbLeaves {
		err = apply()
	}
	if fate == dbAnswers {
		return err
	}
	s.end()
	if fate == dbCrashes || fate == dbLeaves {
		s.dead = true
		go s.crash()
	}
	return errDatabase
}

// end is what becomes of a session: its claims are free, and its stream is.
func (s *session) end() {
	for i, claim := range s.db.rows {
		if claim != 0 && claim != done && s.db.held[claim] == s {
			s.db.rows[i] = 0
		}
	}
	if s.db.active == s {
		s.db.active = nil
	}
}

func (s *session) Claim(ctx context.Context, limit int) (
	claim uint64, keys []string, values [][]byte, err error,
) {
	err = s.call(ctx, "claim", func() error {
		foreign := make(map[string]bool)
		for i, by := range s.db.rows {
			if by != 0 && by != done {
				foreign[string(s.db.changes[i].Key())] = true
			}
		}
		for i, by := range s.db.rows {
			change := s.db.changes[i]
			if by != 0 || foreign[string(change.Key())] || len(keys) == limit {
				continue
			}
			if claim == 0 {
				s.db.claims++
				claim = s.db.claims
				s.db.held[claim] = s
			}
			s.db.rows[i] = claim
			keys = append(keys, string(change.Key()))
			values = append(values, mustEnrollment(s.db.t, change))
		}
		return nil
	})
	if err != nil {
		return 0, nil, nil, err
	}
	return claim, keys, values, nil
}

func mustEnrollment(t testing.TB, change Enrollment) []byte {
	value, err := change.Value()
	if err != nil {
		t.Error(err)
	}
	return value
}

// published checks that nothing is given up before it is acknowledged.
func (db *registry) published(what string, change Enrollment) {
	if !db.acked[string(mustEnrollment(db.t, change))] {
		db.t.Errorf("%s of %v, which is not acknowledged", what, change)
	}
}

func (s *session) Mark(ctx context.Context, claim uint64) error {
	return s.call(ctx, "mark", func() error { return s.settle(claim, done) })
}

func (s *session) Release(ctx context.Context, claim uint64) error {
	return s.call(ctx, "release", func() error { return s.settle(claim, 0) })
}

func (s *session) settle(claim, to uint64) error {
	found := false
	for i, by := range s.db.rows {
		if by != claim {
			continue
		}
		found = true
		if to == done {
			s.db.published("mark", s.db.changes[i])
			s.db.marked++
		}
		s.db.rows[i] = to
	}
	if !found && to == done {
		return errors.New("no such claim")
	}
	return nil
}

type slotError struct{ lost, active bool }

func (e slotError) Error() string    { return fmt.Sprint("lost, active: ", e.lost, e.active) }
func (e slotError) SlotLost() bool   { return e.lost }
func (e slotError) SlotActive() bool { return e.active }

func (s *session) Stream(ctx context.Context, from string) error {
	return s.call(ctx, "stream", func() error {
		switch {
		case s.db.lost:
			return fmt.Errorf("streaming: %w", slotError{lost: true})
		case s.db.active != nil && s.db.active != s:
			return fmt.Errorf("streaming: %w", slotError{active: true})
		}
		s.db.active = s
		s.db.froms = append(s.db.froms, from)
		from = max(from, s.db.confirmed)
		for s.next = 0; s.next < len(s.db.changes); s.next++ {
			if s.db.changes[s.next].SourceLSN > from {
				break
			}
		}
		return nil
	})
}

func (s *session) Next(ctx context.Context) (lsn, key string, value []byte, err error) {
	keepalive := time.After(10 * time.Second)
	for silent := false; ; {
		var more chan struct{}
		err = s.call(ctx, "next", func() error {
			switch {
			case s.db.lost:
				return slotError{lost: true}
			case s.db.active != s:
				return errDatabase
			case s.next < len(s.db.changes):
				change := s.db.changes[s.next]
				lsn, key = change.SourceLSN, string(change.Key())
				value = mustEnrollment(s.db.t, change)
				s.next++
			case silent:
				lsn = fmt.Sprintf("%016X/%08X", 0x1000+len(s.db.changes)/2*0x10, 0)
				if len(s.db.changes)%2 == 1 {
					lsn = lsnOf(len(s.db.changes) - 1)
				}
			default:
				more = s.db.commits
			}
			return nil
		})
		if more == nil {
			return lsn, key, value, err
		}
		select {
		case <-more:
		case <-keepalive:
			silent = true
		case <-ctx.Done():
			return "", "", nil, ctx.Err()
		}
	}
}

func (s *session) Confirm(ctx context.Context, lsn string) error {
	return s.call(ctx, "confirm", func() error {
		if s.db.active != s {
			return errDatabase
		}
		for _, change := range s.db.changes {
			if change.SourceLSN <= lsn && change.SourceLSN > s.db.confirmed {
				s.db.published("confirmation up to "+lsn, change)
			}
		}
		if lsn < s.db.confirmed {
			s.db.t.Errorf("confirmed %s after %s", lsn, s.db.confirmed)
		}
		s.db.confirmed = lsn
		return nil
	})
}

// appends sees what one process appends, before the hop hears of it. It notes what
// is acknowledged, and wants at most one change of a key in flight: one that fails
// must have nothing of its key behind it that is appended all the same.
type appends struct {
	db     *registry
	mu     sync.Mutex
	flying map[string]int
}

func (a *appends) OnProduceRecordBuffered(r *kgo.Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.flying[string(r.Key)]++; a.flying[string(r.Key)] > 1 {
		a.db.t.Errorf("%d changes of %s are in flight", a.flying[string(r.Key)], r.Key)
	}
}

func (a *appends) OnProduceRecordUnbuffered(r *kgo.Record, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flying[string(r.Key)]--
	if err == nil {
		a.db.mu.Lock()
		a.db.acked[string(r.Value)] = true
		a.db.mu.Unlock()
	}
}

// publisher makes one life of a program that publishes.
type publisher struct {
	name  string
	start func(*office, *session, []kgo.Opt) (run, error)
}

type run = func(context.Context) error

var publishers = []publisher{
	{"poller", func(o *office, s *session, kafka []kgo.Opt) (run, error) {
		p, err := NewPoller(PollerConfig{
			Kafka: kafka, Outbox: s, Topic: enrollments, Batch: 4, Alert: o.alert,
		})
		if err != nil {
			return nil, err
		}
		return p.Run, nil
	}},
	{"log publisher", func(o *office, s *session, kafka []kgo.Opt) (run, error) {
		p, err := NewLogPublisher(LogPublisherConfig{
			Kafka: kafka, Log: s, Topic: enrollments, Window: 4, Alert: o.alert,
		})
		if err != nil {
			return nil, err
		}
		return p.Run, nil
	}},
}

// job is one life of a publisher, on a line and in a session of its own.
type job struct {
	*life
	session *session
}

func (o *office) publish(p publisher, faults ...func(*job)) *job {
	o.t.Helper()
	sees := &appends{db: o.db, flying: make(map[string]int)}
	j := &job{life: &life{line: &line{dial: o.dial}, ended: make(chan error, 1)}}
	ctx, cancel := context.WithCancel(o.t.Context())
	j.session = &session{db: o.db, crash: func() {
		j.line.kill()
		cancel()
	}}
	for _, fault := range faults {
		fault(j)
	}
	run, err := p.start(o, j.session, append(slices.Clone(o.kafka),
		kgo.Dialer(j.line.connect), kgo.WithHooks(sees)))
	if err != nil {
		o.t.Fatal(err)
	}
	go func() { j.ended <- run(ctx) }()
	j.stop = sync.OnceValue(func() error {
		cancel()
		return <-j.ended
	})
	o.t.Cleanup(func() { _ = j.stop() })
	return j
}

// kill ends the process at once.
func (j *job) kill() {
	j.session.db.mu.Lock()
	j.session.end()
	j.session.dead = true
	j.session.db.mu.Unlock()
	j.session.crash()
}

// topic returns all records of the enrollment topic, partition by partition.
func (o *office) topic() []*kgo.Record {
	o.t.Helper()
	records, err := readWhole(o.t.Context(), wholeTopic{
		kafka: o.kafka, topic: enrollments, isolation: ReadCommitted, backoff: time.Second,
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return records
}

// wants checks that every change is published, that the first copies of a key are
// in order, and that the fold is the database.
func (o *office) wants() {
	o.t.Helper()
	first, fold := make(map[string][]string), NewCohortSnapshot(enrollments, 0)
	seen := make(map[Enrollment]bool)
	for _, record := range o.topic() {
		change, err := ParseEnrollment(record.Key, record.Value)
		if err != nil {
			o.t.Error(err)
		}
		if fold.Apply(change); !seen[change] {
			first[string(record.Key)] = append(first[string(record.Key)], change.SourceLSN)
		}
		seen[change] = true
	}
	o.db.mu.Lock()
	defer o.db.mu.Unlock()
	want, state := make(map[string][]string), NewCohortSnapshot(enrollments, 0)
	for _, change := range o.db.changes {
		want[string(change.Key())] = append(want[string(change.Key())], change.SourceLSN)
		state.Latest[string(change.Key())] = change
	}
	if diff := cmp.Diff(want, first); diff != "" {
		o.t.Errorf("first copies: %s\ncalls: %v", diff, o.db.calls)
	}
	if diff := cmp.Diff(state.Latest, fold.Latest); diff != "" {
		o.t.Errorf("fold: %s", diff)
	}
}

// drained checks that the database knows how far it is published.
func (o *office) drained(p publisher) {
	o.t.Helper()
	o.db.mu.Lock()
	defer o.db.mu.Unlock()
	if p.name == "poller" {
		if o.db.marked != len(o.db.changes) {
			o.t.Errorf("%d of %d rows are marked: %v", o.db.marked, len(o.db.changes), o.db.rows)
		}
	} else if last := o.db.changes[len(o.db.changes)-1].SourceLSN; o.db.confirmed < last {
		o.t.Errorf("%q is confirmed, and not %s", o.db.confirmed, last)
	}
}
