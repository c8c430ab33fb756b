//go:build synctests

package hops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const cohortPrefix = "cohort/enrollment"

// fold starts a cohort. Before it runs, begin hears of its life.
func (o *office) fold(store ObjectConditional, begin ...func(*life)) *life {
	o.t.Helper()
	l := &life{line: &line{dial: o.dial}, ended: make(chan error, 1)}
	cohort, err := NewCohort(CohortConfig{
		Kafka: append(slices.Clone(o.kafka), kgo.Dialer(l.line.connect)),
		Store: store, Topic: enrollments, Prefix: cohortPrefix, Alert: o.alert,
	})
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(o.t.Context())
	l.stop = sync.OnceValue(func() error {
		cancel()
		return <-l.ended
	})
	o.t.Cleanup(func() { _ = l.stop() })
	for _, begin := range begin {
		begin(l)
	}
	go func() { l.ended <- cohort.Run(ctx) }()
	return l
}

// append appends the changes from the nth on to the topic, and some of them again.
func (o *office) append(nth int) {
	o.t.Helper()
	client := o.client()
	for i, change := range o.db.changes[nth:] {
		o.produce(client, string(change.Key()), string(mustEnrollment(o.t, change)))
		if i%3 == 2 {
			change = o.db.changes[i/2]
			o.produce(client, string(change.Key()), string(mustEnrollment(o.t, change)))
		}
	}
}

func (o *office) produce(client *kgo.Client, key, value string) {
	o.t.Helper()
	record := &kgo.Record{Topic: enrollments, Key: []byte(key), Value: []byte(value)}
	if err := client.ProduceSync(o.t.Context(), record).FirstErr(); err != nil {
		o.t.Fatal(err)
	}
}

// change commits changes and appends them.
func (o *office) change(n int) {
	from := len(o.db.changes)
	o.db.fill(n)
	o.append(from)
}

// folded checks that what is stored is what the database has.
func (o *office) folded() CohortState {
	o.t.Helper()
	o.store.before, o.store.after = nil, nil
	got, err := ReadCohort(o.t.Context(), o.store, cohortPrefix)
	if err != nil {
		o.t.Fatal(err)
	}
	all := NewCohortSnapshot(enrollments, 0)
	latest := make(map[string]Enrollment)
	for _, change := range o.db.changes {
		latest[string(change.Key())] = change
	}
	want := CohortState{Seats: make(map[string]int64)}
	for _, change := range latest {
		all.seat(change.CourseID, taken(change))
		want.Latest = append(want.Latest, change)
	}
	slices.SortFunc(want.Latest, func(a, b Enrollment) int {
		return strings.Compare(string(a.Key()), string(b.Key()))
	})
	if diff := cmp.Diff(want.Latest, got.Latest); diff != "" {
		o.t.Errorf("enrollments: %s\ncalls: %v", diff, o.store.calls)
	}
	if diff := cmp.Diff(all.Seats, got.Seats); diff != "" {
		o.t.Errorf("seats: %s", diff)
	}
	for partition, next := range got.Next {
		if end := o.cluster.PartitionInfo(enrollments, partition).HighWatermark; next != end {
			o.t.Errorf("partition %d is folded up to %d of %d", partition, next, end)
		}
	}
	return got
}

func TestCohortFolds(t *testing.T) {
	inOffice(t, 2, func(t *testing.T, o *office) {
		o.change(7)
		l := o.fold(o.store)
		wait(10)
		o.folded()
		o.change(7)
		wait(10)
		o.folded()
		if err := l.stop(); err != nil {
			t.Error(err)
		}
		o.change(3)
		o.fold(o.store)
		wait(10)
		o.folded()
		if len(o.alerts) > 0 {
			t.Errorf("alerts: %v", o.alerts)
		}
	})
}

// At every call of the store in turn: it fails undone or done, and the process goes
// on or dies.
func TestCohortAtEveryCall(t *testing.T) {
	for _, how := range []string{
		"refused", "lost", "dies before", "dies after", "refused for long",
	} {
		for nth, reached := 1, true; reached && nth < 40; nth++ {
			t.Run(fmt.Sprintf("%s at call %d", how, nth), func(t *testing.T) {
				inOffice(t, 2, func(t *testing.T, o *office) {
					reached = false
					var l *life
					calls := 0
					o.store.before = func(string, string) error {
						calls++
						long := how == "refused for long" && calls <= nth+8
						if calls < nth || calls > nth && !long {
							return nil
						}
						reached = true
						switch how {
						case "dies before":
							l.line.kill()
							go func() { _ = l.stop() }()
							wait(1)
							return errDatabase
						case "refused", "refused for long":
							return errors.New("try again later")
						}
						return nil
					}
					o.store.after = func(string, string) error {
						if calls != nth || how == "refused" {
							return nil
						}
						if how == "dies after" {
							l.line.kill()
							go func() { _ = l.stop() }()
						}
						return errDatabase
					}
					o.change(7)
					o.fold(o.store, func(begun *life) { l = begun })
					wait(5)
					o.change(5)
					wait(60)
					if strings.HasPrefix(how, "dies") {
						o.fold(o.store)
					}
					wait(60)
					o.folded()
					if !strings.HasPrefix(how, "dies") && o.alerted(AlertConflict) > 0 {
						t.Errorf("took its own put for another's: %v", o.alerts)
					}
				})
			})
		}
	}
}

// Two cohorts on one prefix: every snapshot is of one of them, the other goes on
// from it, and an operator hears of it.
func TestCohortTwo(t *testing.T) {
	inOffice(t, 2, func(t *testing.T, o *office) {
		o.fold(o.store)
		o.fold(slowStore{o.store})
		for range 30 {
			o.change(2)
			wait(1)
		}
		wait(60)
		o.folded()
		if n := o.alerted(AlertConflict); n < 5 || n != len(o.alerts) {
			t.Errorf("alerts: %v", o.alerts)
		}
	})
}

// slowStore takes its time to replace an object.
type slowStore struct{ ObjectConditional }

func (s slowStore) PutIf(ctx context.Context, key string, body []byte, etag string) (
	bool, string, error,
) {
	wait(3)
	return s.ObjectConditional.PutIf(ctx, key, body, etag)
}

// The first put of a life that is over comes after the next one has begun.
func TestCohortLatePut(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		late := NewCohortSnapshot(enrollments, 0)
		o.db.fill(1)
		late.Apply(o.db.changes[0])
		late.Next = 1
		body, err := AppendCohortSnapshot(nil, late)
		if err != nil {
			t.Fatal(err)
		}
		o.append(0)
		o.change(2)
		o.fold(slowStore{o.store}) // takes all three at once
		wait(1)
		ok, _, err := o.store.PutIf(t.Context(), cohortPrefix+"/0", body, "")
		if err != nil || !ok {
			t.Fatalf("%t %v", ok, err)
		}
		wait(30)
		o.folded()
		if o.alerted(AlertConflict) != 1 || len(o.alerts) != 1 {
			t.Errorf("alerts: %v", o.alerts)
		}
	})
}

// What is no change is counted and told of, and holds nothing up.
func TestCohortSkips(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		o.change(3)
		client := o.client()
		o.produce(client, "ada/go-101", "not JSON")
		o.produce(client, "eve/go-101", `{"learner_id":"ada"}`)
		o.change(3)
		l := o.fold(o.store)
		wait(10)
		if got := o.folded(); got.Skipped != 2 || o.alerted(AlertSkipped) != 2 {
			t.Errorf("%d skipped, alerts: %v", got.Skipped, o.alerts)
		}
		if err := l.stop(); err != nil {
			t.Error(err)
		}
		o.produce(client, "ada/go-101", "not JSON either")
		o.fold(o.store)
		wait(10)
		if got := o.folded(); got.Skipped != 3 {
			t.Errorf("%d skipped", got.Skipped)
		}
	})
}

// Records of an aborted transaction are no changes of anything.
func TestCohortAborted(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		o.change(3)
		writer := o.client(kgo.TransactionalID("w"))
		if err := writer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		o.produce(writer, "ada/go-101", string(mustEnrollment(t,
			Enrollment{"ada", "go-101", OpDropped, lsnOf(100)})))
		if err := writer.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
			t.Fatal(err)
		}
		o.change(3)
		o.fold(o.store)
		wait(10)
		o.folded()
	})
}

// Partitions that are added are found, and a key that moves with them counts once.
func TestCohortMorePartitions(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		o.change(7)
		o.fold(o.store)
		wait(10)
		request := kmsg.NewPtrCreatePartitionsRequest()
		more := kmsg.NewCreatePartitionsRequestTopic()
		more.Topic, more.Count = enrollments, 3
		request.Topics = append(request.Topics, more)
		if _, err := request.RequestWith(t.Context(), o.client()); err != nil {
			t.Fatal(err)
		}
		o.change(8)
		wait(60)
		got := o.folded()
		sum := 0
		for _, body := range o.store.objects {
			s, err := ParseCohortSnapshot(body)
			if err != nil {
				t.Fatal(err)
			}
			sum += len(s.Latest)
		}
		if len(got.Next) < 2 || sum == len(got.Latest) {
			t.Errorf("no key moved: %v", got)
		}
	})
}

// Refused fetches and a topic that is not there are waited out, without spinning.
func TestCohortRefused(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		for _, key := range []kmsg.Key{kmsg.Fetch, kmsg.ListOffsets} {
			fault := o.cluster.Fault(kfake.Fault{
				Keys: []kmsg.Key{key}, Err: kerr.TopicAuthorizationFailed, Count: -1,
			})
			before := o.alerted(AlertFetchFailed)
			l := o.fold(o.store)
			o.change(2)
			time.Sleep(100 * time.Second)
			if n := o.alerted(AlertFetchFailed) - before; n < 1 || n > 5 {
				t.Errorf("%s: %d alerts in 100 s: %v", key.Name(), n, o.alerts)
			}
			fault.Remove()
			wait(60)
			o.folded()
			if err := l.stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestNewCohortRefuses(t *testing.T) {
	right := CohortConfig{Store: newMemoryStore(), Topic: "a", Prefix: "b"}
	if _, err := NewCohort(right); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*CohortConfig){
		"required": func(cfg *CohortConfig) { cfg.Store = nil },
		"Prefix":   func(cfg *CohortConfig) { cfg.Prefix = "b/" },
		"negative": func(cfg *CohortConfig) { cfg.Every = -1 },
	} {
		cfg := right
		spoil(&cfg)
		if _, err := NewCohort(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
