//go:build synctests

package hops

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// trim removes what is below an offset, as retention does.
func (o *office) trim(to int64) {
	o.t.Helper()
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.TimeoutMillis = 1000
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = enrollments
	rp := kmsg.NewDeleteRecordsRequestTopicPartition()
	rp.Offset = to
	rt.Partitions = append(rt.Partitions, rp)
	request.Topics = append(request.Topics, rt)
	if _, err := request.RequestWith(o.t.Context(), o.client()); err != nil {
		o.t.Fatal(err)
	}
}

// damaged checks that a cohort ended because its snapshot does not fit the topic,
// and left it as it was.
func (o *office) damaged(l *life, before string) {
	o.t.Helper()
	wait(60)
	var damage *CohortDamageError
	if err := l.stop(); !errors.As(err, &damage) || damage.Key != cohortPrefix+"/0" {
		o.t.Errorf("ended with %v", err)
	}
	if o.alerted(AlertDamage) != 1 || string(o.store.objects[cohortPrefix+"/0"]) != before {
		o.t.Errorf("alerts: %v, calls: %v", o.alerts, o.store.calls)
	}
}

// What the log no longer has is not passed over in silence.
func TestCohortTrimmed(t *testing.T) {
	t.Run("below the snapshot", func(t *testing.T) {
		inOffice(t, 1, func(t *testing.T, o *office) {
			o.change(6)
			l := o.fold(o.store)
			wait(5)
			_ = l.stop()
			o.trim(3)
			o.change(3)
			o.fold(o.store)
			wait(10)
			o.folded()
		})
	})
	t.Run("above the snapshot", func(t *testing.T) {
		inOffice(t, 1, func(t *testing.T, o *office) {
			o.change(6)
			l := o.fold(o.store)
			wait(5)
			_ = l.stop()
			before := string(o.store.objects[cohortPrefix+"/0"])
			o.change(6)
			o.trim(11)
			o.damaged(o.fold(o.store), before)
		})
	})
	t.Run("while it runs", func(t *testing.T) {
		inOffice(t, 1, func(t *testing.T, o *office) {
			o.change(6)
			l := o.fold(o.store)
			wait(5)
			before := string(o.store.objects[cohortPrefix+"/0"])
			l.line.setFaults(func(kmsg.Key, int) fate { return freeze })
			wait(10)
			o.change(6)
			o.trim(11)
			l.line.thaw()
			o.damaged(l, before)
		})
	})
	t.Run("without a snapshot", func(t *testing.T) {
		inOffice(t, 1, func(t *testing.T, o *office) {
			o.change(12)
			o.trim(2) // its changes have later ones of their keys
			o.fold(o.store)
			wait(10)
			o.folded()
			if o.alerted(AlertTrimmed) != 1 {
				t.Errorf("alerts: %v", o.alerts)
			}
		})
	})
}

// A topic that is shorter than what was read is waited for, with an alert.
func TestCohortBehind(t *testing.T) {
	inOffice(t, 1, func(t *testing.T, o *office) {
		s := NewCohortSnapshot(enrollments, 0)
		s.Next = 8
		body, err := AppendCohortSnapshot(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		o.store.set(cohortPrefix+"/0", body)
		o.change(3)
		o.fold(o.store)
		wait(100)
		if o.alerted(AlertBehind) != 1 || len(o.alerts) != 1 {
			t.Errorf("alerts: %v", o.alerts)
		}
		if string(o.store.objects[cohortPrefix+"/0"]) != string(body) {
			t.Error("the snapshot was changed")
		}
	})
}

func TestCohortDamagedSnapshot(t *testing.T) {
	other := NewCohortSnapshot("learning.other", 0)
	body, err := AppendCohortSnapshot(nil, other)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"torn": "{", "of another topic": string(body)} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, 1, func(t *testing.T, o *office) {
				o.store.set(cohortPrefix+"/0", []byte(body))
				l := o.fold(o.store)
				wait(10)
				var damage *CohortDamageError
				if err := l.stop(); !errors.As(err, &damage) {
					t.Errorf("ended with %v", err)
				}
				if string(o.store.objects[cohortPrefix+"/0"]) != body {
					t.Error("the snapshot was changed")
				}
				if name == "torn" {
					_, err := ReadCohort(t.Context(), o.store, cohortPrefix)
					if !errors.As(err, &damage) {
						t.Errorf("reading: %v", err)
					}
				}
			})
		})
	}
}

// Also what changed between a look at the topic and a fetch is seen.
func TestCohortTakesWhatIsNext(t *testing.T) {
	cohort, err := NewCohort(CohortConfig{Store: newMemoryStore(), Topic: "a", Prefix: "b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, offset := range []int64{4, 7} { // the log went back; it begins above
		p := &cohortPartition{CohortSnapshot: NewCohortSnapshot("a", 0)}
		p.Next = 5
		s := &cohortSession{Cohort: cohort, parts: map[int32]*cohortPartition{0: p}}
		var damage *CohortDamageError
		err := s.take(kgo.FetchTopicPartition{Topic: "a", FetchPartition: kgo.FetchPartition{
			LogStartOffset: offset, Records: []*kgo.Record{{Offset: offset}},
		}})
		if !errors.As(err, &damage) {
			t.Errorf("offset %d after 4: %v", offset, err)
		}
	}
}
