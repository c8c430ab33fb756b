//go:build synctests

package hops

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	topic = "learning.progress"
	dlq   = "learning.progress.dlq"
	group = "landing"
)

// world is a broker on a network of virtual time, and a store.
type world struct {
	t       *testing.T
	cluster *kfake.Cluster
	kafka   []kgo.Opt
	store   *memoryStore

	mu     sync.Mutex
	alerts []Alert
}

// inWorld runs test in a bubble. Everything in it must have ended when it
// returns, so clients and jobs are closed by the cleanups they register.
func inWorld(t *testing.T, partitions int32, test func(*testing.T, *world)) {
	synctest.Test(t, func(t *testing.T) {
		network := new(kfake.VirtualNetwork)
		cluster, err := kfake.NewCluster(kfake.ListenFn(network.Listen), kfake.NumBrokers(1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cluster.Close)
		for _, name := range []string{topic, dlq} {
			if err := cluster.CreateTopic(name, partitions, nil); err != nil {
				t.Fatal(err)
			}
		}
		test(t, &world{
			t:       t,
			cluster: cluster,
			kafka: []kgo.Opt{
				kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.Dialer(network.DialContext),
			},
			store: &memoryStore{objects: make(map[string][]byte), etags: make(map[string]int)},
		})
	})
}

func (w *world) alert(a Alert) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alerts = append(w.alerts, a)
}

// alerted says how often an alert of this kind was raised.
func (w *world) alerted(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, a := range w.alerts {
		if a.What == what {
			n++
		}
	}
	return n
}

func (w *world) client(opts ...kgo.Opt) *kgo.Client {
	w.t.Helper()
	client, err := kgo.NewClient(append(opts, w.kafka...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(client.Close)
	return client
}

// append adds values to one partition, one record each, keyed by learner ada.
func (w *world) append(partition int32, values ...string) {
	w.t.Helper()
	client := w.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for _, value := range values {
		record := &kgo.Record{
			Topic: topic, Partition: partition, Key: []byte("ada"), Value: []byte(value),
			Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("t1")}},
		}
		if err := client.ProduceSync(w.t.Context(), record).FirstErr(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// good returns n values that the contract accepts.
func (w *world) good(n int) []string {
	w.t.Helper()
	values := make([]string, n)
	for i := range values {
		values[i] = string(mustValue(w.t, event(fmt.Sprintf("e%d", i))))
	}
	return values
}

// read returns all records of a topic's partition.
func (w *world) read(name string, partition int32) []*kgo.Record {
	w.t.Helper()
	info := w.cluster.PartitionInfo(name, partition)
	client := w.client(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		name: {partition: kgo.NewOffset().AtStart()},
	}))
	var records []*kgo.Record
	for int64(len(records)) < info.HighWatermark-info.LogStartOffset {
		records = append(records, client.PollFetches(w.t.Context()).Records()...)
	}
	return records
}

// committed is the group's offset of a partition, or -1.
func (w *world) committed(partition int32) int64 {
	info := w.cluster.GroupInfo(group)
	if info == nil {
		return -1
	}
	commit, ok := info.Commits[topic][partition]
	if !ok {
		return -1
	}
	return commit.Offset
}

// land starts a landing job and returns what stops it gracefully.
func (w *world) land(change func(*LandingConfig)) (stop func() error) {
	w.t.Helper()
	cfg := LandingConfig{
		Kafka: w.kafka, Store: w.store, Topic: topic, DLQ: dlq, Group: group, Alert: w.alert,
	}
	change(&cfg)
	landing, err := NewLanding(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- landing.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	w.t.Cleanup(func() { _ = stop() })
	return stop
}

// landAndStop lands what there is and stops again.
func (w *world) landAndStop(change func(*LandingConfig)) error {
	stop := w.land(change)
	time.Sleep(20 * time.Second)
	return stop()
}

// memoryStore is an object store with faults that a test scripts: before, if
// set, sees each call first and may refuse it; after, if set, may lose the reply
// of a call that was applied.
type memoryStore struct {
	mu      sync.Mutex
	objects map[string][]byte
	etags   map[string]int
	calls   []string
	before  func(op, key string) error
	after   func(op, key string) error
}

func (s *memoryStore) call(op, key string, apply func()) error {
	// Not under the lock: a fault may sleep, and virtual time stands still while
	// a goroutine waits for a mutex.
	if s.before != nil {
		if err := s.before(op, key); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, op+" "+key)
	apply()
	if s.after != nil {
		return s.after(op, key)
	}
	return nil
}

func (s *memoryStore) set(key string, body []byte) string {
	s.objects[key] = slices.Clone(body)
	s.etags[key]++
	return fmt.Sprint(s.etags[key])
}

func (s *memoryStore) Put(_ context.Context, key string, body []byte) (etag string, err error) {
	err = s.call("put", key, func() { etag = s.set(key, body) })
	return etag, err
}

func (s *memoryStore) PutIf(
	_ context.Context, key string, body []byte, etag string,
) (ok bool, newETag string, err error) {
	err = s.call("putif", key, func() {
		has := ""
		if _, there := s.objects[key]; there {
			has = fmt.Sprint(s.etags[key])
		}
		if ok = has == etag; ok {
			newETag = s.set(key, body)
		}
	})
	return ok, newETag, err
}

func (s *memoryStore) Get(_ context.Context, key string) (body []byte, etag string, err error) {
	there := false
	err = s.call("get", key, func() {
		body, there = s.objects[key]
		body, etag = slices.Clone(body), fmt.Sprint(s.etags[key])
	})
	if err == nil && !there {
		return nil, "", fmt.Errorf("object %s: %w", key, fs.ErrNotExist)
	}
	return body, etag, err
}

func (s *memoryStore) List(
	_ context.Context, prefix, after string, limit int,
) (keys []string, err error) {
	err = s.call("list", prefix, func() {
		for _, key := range slices.Sorted(maps.Keys(s.objects)) {
			if strings.HasPrefix(key, prefix) && key > after && len(keys) < limit {
				keys = append(keys, key)
			}
		}
	})
	return keys, err
}

func (s *memoryStore) Delete(_ context.Context, key string) error {
	return s.call("delete", key, func() { delete(s.objects, key) })
}

var _ ObjectStore = (*memoryStore)(nil)

// shape says what objects hold, without the bytes: "0: 0 1 2=not-json 3=hole".
func (s *memoryStore) shape(t *testing.T, partition int32) []string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	prefix := fmt.Sprintf("%s/%d/", topic, partition)
	var shapes []string
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		lines, err := ParseBody(s.objects[key])
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		name := strings.TrimLeft(strings.TrimPrefix(key, prefix), "0")
		shape := []string{max(name, "0") + ":"}
		for _, line := range lines {
			switch {
			case line.Hole:
				shape = append(shape, fmt.Sprintf("%d=hole", line.Offset))
			case line.Reject != "":
				shape = append(shape, fmt.Sprintf("%d=%s", line.Offset, line.Reject))
			default:
				shape = append(shape, fmt.Sprint(line.Offset))
			}
		}
		shapes = append(shapes, strings.Join(shape, " "))
	}
	return shapes
}
