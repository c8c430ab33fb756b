//go:build synctests

package hops

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestNewReaderRefuses(t *testing.T) {
	for name, cfg := range map[string]ValidatedReaderConfig{
		"Topic is required": {},
		"Isolation is":      {Topic: "a", Isolation: "serializable"},
		"negative":          {Topic: "a", Backoff: -1},
	} {
		if _, err := NewValidatedReader(cfg); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewDLQReader(DLQReaderConfig{}); err == nil {
		t.Error("no topic, no error")
	}
}

// writeTxn writes values in one transaction of an identity of its own, and ends
// it: "commit", "abort", or "" to leave it open.
func (p *pipe) writeTxn(id, how string, values ...string) {
	p.t.Helper()
	client := p.client(kgo.TransactionalID(id), kgo.TransactionTimeout(10*time.Minute))
	if err := client.BeginTransaction(); err != nil {
		p.t.Fatal(err)
	}
	for _, value := range values {
		record := &kgo.Record{Topic: output, Value: []byte(value)}
		if err := client.ProduceSync(p.t.Context(), record).FirstErr(); err != nil {
			p.t.Fatal(err)
		}
	}
	if how == "" {
		return
	}
	if err := client.EndTransaction(p.t.Context(), how == "commit"); err != nil {
		p.t.Fatal(err)
	}
}

// ReadAll stops at the end, wherever that is: behind markers, aborted records, or
// before a transaction that is open.
func TestReadAll(t *testing.T) {
	for _, test := range []struct {
		name                   string
		write                  func(*pipe)
		committed, uncommitted string
	}{
		{"empty", func(*pipe) {}, "", ""},
		{"committed", func(p *pipe) { p.writeTxn("x", "commit", "a", "b") }, "a b", "a b"},
		{"aborted", func(p *pipe) { p.writeTxn("x", "abort", "a", "b") }, "", "a b"},
		{"aborted at the end", func(p *pipe) {
			p.writeTxn("x", "commit", "a")
			p.writeTxn("x", "abort", "b")
		}, "a", "a b"},
		{"open", func(p *pipe) {
			p.writeTxn("x", "commit", "a")
			p.writeTxn("y", "", "b")
			p.writeTxn("z", "commit", "c")
		}, "a", "a b c"},
		{"aborted before an open one", func(p *pipe) {
			client := p.client(kgo.TransactionalID("x"))
			_ = client.BeginTransaction()
			_ = client.ProduceSync(p.t.Context(), &kgo.Record{Topic: output, Value: []byte("a")})
			p.writeTxn("y", "", "b")
			_ = client.EndTransaction(p.t.Context(), kgo.TryAbort)
		}, "", "a b"},
		{"trimmed", func(p *pipe) {
			p.writeTxn("x", "commit", "a", "b")
			if err := p.cluster.DeleteRecords(output, 0, 1); err != nil {
				p.t.Fatal(err)
			}
		}, "b", "b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inPipe(t, 1, func(t *testing.T, p *pipe) {
				test.write(p)
				for isolation, want := range map[Isolation]string{
					ReadCommitted: test.committed, ReadUncommitted: test.uncommitted,
				} {
					var got []string
					for _, s := range p.readAll(isolation) {
						got = append(got, string(s.Value))
					}
					if strings.Join(got, " ") != want {
						t.Errorf("%s shows %v, want %s", isolation, got, want)
					}
				}
			})
		})
	}
}

// ReadAll waits for what may pass, gives up on what will not, and on its context.
func TestReadAllErrors(t *testing.T) {
	inPipe(t, 1, func(t *testing.T, p *pipe) {
		p.writeTxn("x", "commit", "a")
		reader, err := NewValidatedReader(ValidatedReaderConfig{Kafka: p.kafka, Topic: output})
		if err != nil {
			t.Fatal(err)
		}
		p.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Fetch, kmsg.ListOffsets},
			Err:  kerr.NotLeaderForPartition, Count: 3,
		})
		if all, err := reader.ReadAll(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("%d records, %v", len(all), err)
		}
		fault := p.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed, Count: -1,
		})
		if _, err := reader.ReadAll(t.Context()); err == nil {
			t.Error("no error")
		}
		fault.Remove()
		p.cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition, Count: -1,
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := reader.ReadAll(ctx); err == nil {
			t.Error("no error")
		}
	})
}

func TestReaderRun(t *testing.T) {
	for isolation, want := range map[Isolation][]string{
		ReadCommitted: {"a", "c"}, ReadUncommitted: {"a", "b", "c"},
	} {
		inPipe(t, 1, func(t *testing.T, p *pipe) {
			refused := 0
			reader, err := NewValidatedReader(ValidatedReaderConfig{
				Kafka: p.kafka, Topic: output, Isolation: isolation,
				Alert: func(Alert) { refused++ },
			})
			if err != nil {
				t.Fatal(err)
			}
			p.cluster.Fault(kfake.Fault{
				Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed, Count: 2,
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			var got []string
			go func() {
				ended <- reader.Run(ctx, func(s Seen) { got = append(got, string(s.Value)) })
			}()
			p.writeTxn("x", "commit", "a")
			p.writeTxn("x", "abort", "b")
			wait(10)
			p.writeTxn("x", "commit", "c")
			wait(10)
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", isolation, diff)
			}
			if refused != 2 {
				t.Errorf("%d alerts", refused)
			}
		})
	}
}

// Each reject is shown once, with the number of its copies.
func TestDLQReader(t *testing.T) {
	inPipe(t, 2, func(t *testing.T, p *pipe) {
		client := p.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
		letter := func(origin *Origin, value string) {
			record := &kgo.Record{Topic: dlq, Value: []byte(value)}
			if origin != nil {
				record.Headers = append(origin.headers(),
					kgo.RecordHeader{Key: HeaderReason, Value: []byte(ReasonNotJSON)})
			}
			if err := client.ProduceSync(t.Context(), record).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		letter(&Origin{topic, 1, 7}, "a")
		letter(&Origin{topic, 0, 7}, "b")
		letter(&Origin{topic, 1, 7}, "a")
		letter(nil, "stray")
		letter(nil, "stray")
		reader, err := NewDLQReader(DLQReaderConfig{Kafka: p.kafka, Topic: dlq})
		if err != nil {
			t.Fatal(err)
		}
		rejects, err := reader.ReadAll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rejects {
			got = append(got, fmt.Sprintf("%v %s %q x%d", r.Origin, r.Reason, r.Value, r.Copies))
		}
		want := []string{
			topic + `/0/7 not-json "b" x1`, topic + `/1/7 not-json "a" x2`,
			dlq + `/0/3  "stray" x1`, dlq + `/0/4  "stray" x1`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOriginOf(t *testing.T) {
	for _, test := range []struct {
		headers string
		want    Origin
		ok      bool
	}{
		{"", Origin{}, false},
		{"origin-topic=a origin-partition=1 origin-offset=2", Origin{"a", 1, 2}, true},
		{"origin-topic=z origin-partition=9 origin-offset=9 " +
			"origin-topic=a origin-partition=1 origin-offset=2", Origin{"a", 1, 2}, true},
		{"origin-topic=a origin-partition=1", Origin{}, false},
		{"origin-partition=1 origin-offset=2", Origin{}, false},
		{"origin-topic=a origin-partition=x origin-offset=2", Origin{}, false},
		{"origin-topic=a origin-partition=1 origin-offset=-2", Origin{}, false},
	} {
		record := new(kgo.Record)
		for _, header := range strings.Fields(test.headers) {
			key, value, _ := strings.Cut(header, "=")
			record.Headers = append(record.Headers,
				kgo.RecordHeader{Key: key, Value: []byte(value)})
		}
		got, ok := OriginOf(record)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%s: %v, %v", test.headers, got, ok)
		}
	}
}
