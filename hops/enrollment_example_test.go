//go:build synctests

package hops_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hopcheck/hopcheck/hops"
)

func ExampleNewPoller() {
	kafka, cluster := broker()
	defer cluster.Close()
	if err := cluster.CreateTopic("learning.enrollment", 1, nil); err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	// The application changes the database, and a poller publishes what it has.
	school := &school{marked: stop}
	registrar, _ := hops.NewRegistrar(hops.RegistrarConfig{Store: school})
	for _, op := range []string{hops.OpEnrolled, hops.OpDropped, hops.OpEnrolled} {
		if err := registrar.Enroll(ctx, "ada", "go-101", op, false); err != nil {
			fmt.Println(err)
		}
	}
	poller, err := hops.NewPoller(hops.PollerConfig{
		Kafka: kafka, Outbox: school, Topic: "learning.enrollment",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("poller stopped:", poller.Run(ctx))

	// A cohort folds them, as often as they come.
	ctx, stop = context.WithCancel(context.Background())
	defer stop()
	shelf := &ledgerShelf{stored: stop}
	cohort, err := hops.NewCohort(hops.CohortConfig{
		Kafka: kafka, Store: shelf, Topic: "learning.enrollment", Prefix: "cohort",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("cohort stopped:", cohort.Run(ctx))
	state, err := hops.ReadCohort(context.Background(), shelf, "cohort")
	fmt.Println(state.Seats, err)
	for _, change := range state.Latest {
		fmt.Printf("%s is %s by %s\n", change.Key(), change.Op, change.SourceLSN)
	}
	// Output:
	// poller stopped: <nil>
	// cohort stopped: <nil>
	// map[go-101:1] <nil>
	// ada/go-101 is enrolled by 0000000000000003/00000001
}

func ExampleNewSlotMonitor() {
	ctx, stop := context.WithCancel(context.Background())
	monitor, err := hops.NewSlotMonitor(hops.SlotMonitorConfig{
		Watch: fullSlot{}, Limit: 1 << 30, Every: time.Minute,
		Alert: func(alert hops.Alert) {
			fmt.Println(strings.ReplaceAll(alert.String(), ", ", ",\n"))
			stop()
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = monitor.Run(ctx)
	// Output:
	// slot monitor: slot-limit: the slot is reserved,
	// holds back 2147483648 bytes of WAL,
	// of at most 1073741824,
	// and its reader is 4096 bytes behind
}

type fullSlot struct{}

func (fullSlot) Slot(context.Context) (state string, retained, lag int64, err error) {
	return "reserved", 2 << 30, 4096, nil
}

// school is the smallest database there can be: one transaction at a time, and an
// outbox.
type school struct {
	mu     sync.Mutex
	outbox []hops.Enrollment
	marked func()
}

func (s *school) Begin(context.Context) (uint64, error) { return 1, nil }

func (s *school) Enroll(context.Context, uint64, string, string, string) error { return nil }

func (s *school) Publish(_ context.Context, _ uint64, learner, course, op string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lsn := fmt.Sprintf("%016X/%08X", len(s.outbox)+1, 1)
	s.outbox = append(s.outbox, hops.Enrollment{
		LearnerID: learner, CourseID: course, Op: op, SourceLSN: lsn,
	})
	return nil
}

func (s *school) Commit(context.Context, uint64) error   { return nil }
func (s *school) Rollback(context.Context, uint64) error { return nil }

func (s *school) Claim(_ context.Context, limit int) (
	claim uint64, keys []string, values [][]byte, err error,
) {
	for _, change := range s.outbox[:min(limit, len(s.outbox))] {
		value, err := change.Value()
		if err != nil {
			return 0, nil, nil, err
		}
		claim = uint64(len(s.outbox))
		keys, values = append(keys, string(change.Key())), append(values, value)
	}
	return claim, keys, values, nil
}

func (s *school) Mark(context.Context, uint64) error {
	s.outbox = nil
	s.marked()
	return nil
}

func (s *school) Release(context.Context, uint64) error { return nil }

// ledgerShelf is the smallest store that a cohort can use.
type ledgerShelf struct {
	mu      sync.Mutex
	objects map[string]string
	stored  func()
}

func (s *ledgerShelf) PutIf(_ context.Context, key string, body []byte, etag string) (
	ok bool, newETag string, err error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[key] != etag {
		return false, "", nil
	}
	if s.objects == nil {
		s.objects = make(map[string]string)
	}
	s.objects[key] = string(body) // which is its own etag
	s.stored()
	return true, string(body), nil
}

func (s *ledgerShelf) Get(_ context.Context, key string) (body []byte, etag string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[key] == "" {
		return nil, "", fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	}
	return []byte(s.objects[key]), s.objects[key], nil
}

func (s *ledgerShelf) List(_ context.Context, prefix, after string, limit int) (
	keys []string, err error,
) {
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if strings.HasPrefix(key, prefix) && key > after && len(keys) < limit {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
