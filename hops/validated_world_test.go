//go:build synctests

package hops

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

const (
	output     = "learning.progress.validated"
	validators = "progress-validated"
)

// pipe is a world with the output topic of Validated.
type pipe struct {
	*world
	dial func(context.Context, string, string) (net.Conn, error)
}

func inPipe(t *testing.T, partitions int32, test func(*testing.T, *pipe)) {
	inWorld(t, partitions, func(t *testing.T, w *world) {
		if err := w.cluster.CreateTopic(output, partitions, nil); err != nil {
			t.Fatal(err)
		}
		dial := w.client().OptValue(kgo.Dialer)
		test(t, &pipe{w, dial.(func(context.Context, string, string) (net.Conn, error))})
	})
}

// life is one run of one instance, on a line of its own.
type life struct {
	line  *line
	ended chan error
	stop  func() error // gracefully
}

func (p *pipe) start(instance string, change ...func(*ValidatedConfig)) *life {
	p.t.Helper()
	l := &life{line: &line{dial: p.dial}, ended: make(chan error, 1)}
	cfg := ValidatedConfig{
		Kafka: append(slices.Clone(p.kafka), kgo.Dialer(l.line.connect)),
		Input: topic, Output: output, Group: validators, Instance: instance, Alert: p.alert,
	}
	for _, change := range change {
		change(&cfg)
	}
	validated, err := NewValidated(cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(p.t.Context())
	go func() { l.ended <- validated.Run(ctx) }()
	l.stop = sync.OnceValue(func() error {
		cancel()
		return <-l.ended
	})
	p.t.Cleanup(func() { _ = l.stop() })
	return l
}

func classicGroup(cfg *ValidatedConfig) { cfg.Classic = true }

// before890 makes the client speak as before KIP-890, when a transaction kept its
// epoch and an epoch that is no longer valid could be renewed.
func before890(cfg *ValidatedConfig) {
	cfg.Classic = true
	cfg.Kafka = append(cfg.Kafka, kgo.MaxVersions(kversion.V3_6_0()))
}

// bothGroups runs a test with each group protocol.
func bothGroups(t *testing.T, test func(*testing.T, func(*ValidatedConfig))) {
	t.Run("kip-848", func(t *testing.T) { test(t, func(*ValidatedConfig) {}) })
	t.Run("classic", func(t *testing.T) { test(t, classicGroup) })
}

// eachProtocol does so, and once more with old transactions. It is not for tests
// that cut a process off: as before KIP-890 the client's producer then tries to
// add partitions to its transaction again and again without a pause, and virtual
// time stands still.
func eachProtocol(t *testing.T, test func(*testing.T, func(*ValidatedConfig))) {
	bothGroups(t, test)
	t.Run("kafka 3.6", func(t *testing.T) { test(t, before890) })
}

func (p *pipe) readAll(isolation Isolation) []Seen {
	p.t.Helper()
	reader, err := NewValidatedReader(ValidatedReaderConfig{
		Kafka: p.kafka, Topic: output, Isolation: isolation,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	all, err := reader.ReadAll(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// wants checks that read_committed shows the accepted inputs of each partition
// once and in order, and that the group's commits are the ends of the input.
func (p *pipe) wants(accepted map[int32][]int64) {
	p.t.Helper()
	got := make(map[int32][]int64)
	for _, s := range p.readAll(ReadCommitted) {
		if !s.HasOrigin || s.Origin.Topic != topic {
			p.t.Errorf("a record without origin: %+v", s)
		}
		got[s.Origin.Partition] = append(got[s.Origin.Partition], s.Origin.Offset)
	}
	if diff := cmp.Diff(accepted, got); diff != "" {
		p.t.Errorf("read_committed: %s\nalerts: %v", diff, p.alerts)
	}
	for partition := range accepted {
		end := p.cluster.PartitionInfo(topic, partition).HighWatermark
		if got := p.commitOf(partition); got != end {
			p.t.Errorf("partition %d: committed %d, want %d", partition, got, end)
		}
	}
}

func (p *pipe) commitOf(partition int32) int64 {
	info := p.cluster.GroupInfo(validators)
	if info == nil {
		return -1
	}
	commit, ok := info.Commits[topic][partition]
	if !ok {
		return -1
	}
	return commit.Offset
}

func upTo(n int64) []int64 {
	offsets := make([]int64, n)
	for i := range offsets {
		offsets[i] = int64(i)
	}
	return offsets
}

// line is the network of one process. A fault sees each request before it is
// sent, and says what becomes of it.
type line struct {
	dial func(context.Context, string, string) (net.Conn, error)

	mu     sync.Mutex
	cut    bool
	conns  []net.Conn
	asked  map[kmsg.Key]int
	faults func(key kmsg.Key, nth int) fate
	frozen chan struct{} // closed by thaw
}

type fate int

const (
	deliver   fate = iota
	loseReply      // the broker does it, and the connection breaks before it says so
	crash          // the request is not sent, and the process is cut off for good
	freeze         // this request and all that follow wait until the line thaws
)

var errCut = errors.New("connection cut")

func (l *line) connect(ctx context.Context, network, host string) (net.Conn, error) {
	l.wait()
	conn, err := l.dial(ctx, network, host)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_ = conn.Close()
		return nil, &net.OpError{Op: "dial", Net: network, Err: errCut}
	}
	l.conns = append(l.conns, conn)
	return &wire{Conn: conn, line: l, lost: make(map[uint32]bool)}, nil
}

func (l *line) freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.frozen == nil {
		l.frozen = make(chan struct{})
	}
}

// wait is not under the lock: virtual time stands still while a goroutine waits
// for a mutex.
func (l *line) wait() {
	l.mu.Lock()
	frozen := l.frozen
	l.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
}

func (l *line) thaw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.frozen)
	l.faults = nil
}

func (l *line) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for _, conn := range l.conns {
		_ = conn.Close()
	}
}

func (l *line) fate(key kmsg.Key) fate {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked == nil {
		l.asked = make(map[kmsg.Key]int)
	}
	l.asked[key]++
	if l.faults == nil {
		return deliver
	}
	return l.faults(key, l.asked[key])
}

func (l *line) setFaults(faults func(kmsg.Key, int) fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = faults
	l.asked = nil
}

func (l *line) count(key kmsg.Key) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked[key]
}

type wire struct {
	net.Conn
	line *line

	mu   sync.Mutex
	lost map[uint32]bool // correlation ids whose reply is lost
	rest []byte          // of a reply that is being read
}

func (c *wire) Write(frame []byte) (int, error) {
	if len(frame) >= 12 {
		correlation := binary.BigEndian.Uint32(frame[8:])
		switch c.line.fate(kmsg.Key(binary.BigEndian.Uint16(frame[4:]))) {
		case crash:
			c.line.kill()
			return 0, io.EOF
		case freeze:
			c.line.freeze()
		case loseReply:
			c.mu.Lock()
			c.lost[correlation] = true
			c.mu.Unlock()
		}
	}
	c.line.wait()
	return c.Conn.Write(frame)
}

func (c *wire) Read(into []byte) (int, error) {
	if len(c.rest) == 0 {
		frame := make([]byte, 4)
		if _, err := io.ReadFull(c.Conn, frame); err != nil {
			return 0, err
		}
		body := make([]byte, binary.BigEndian.Uint32(frame))
		if _, err := io.ReadFull(c.Conn, body); err != nil {
			return 0, err
		}
		c.mu.Lock()
		lost := c.lost[binary.BigEndian.Uint32(body)]
		c.mu.Unlock()
		if lost {
			_ = c.Conn.Close()
			return 0, io.EOF
		}
		c.rest = append(frame, body...)
	}
	n := copy(into, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// quickly makes the client give up on a request after one more try.
func quickly(cfg *ValidatedConfig) {
	cfg.Kafka = append(cfg.Kafka, kgo.RequestRetries(1))
}

// shape says what read_uncommitted or read_committed shows of input partition 0,
// in the order of the output.
func (p *pipe) shape(isolation Isolation) string {
	p.t.Helper()
	var offsets []string
	for _, s := range p.readAll(isolation) {
		if s.Origin.Partition == 0 {
			offsets = append(offsets, fmt.Sprint(s.Origin.Offset))
		}
	}
	return strings.Join(offsets, " ")
}

func wait(seconds int) { time.Sleep(time.Duration(seconds) * time.Second) }
