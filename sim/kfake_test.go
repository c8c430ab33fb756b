//go:build synctests

package sim_test

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The tests in this file hold kfake to what it does differently from Apache Kafka,
// request by request (docs/kfake.md). One that fails is good news: its message says
// what can go.

// house: virtual clock because these tests run in bubbles.

// TestKfakeTwoLeaders: the leader of a classic group leaves while two others join.
// Kafka tells one of them that it leads.
func TestKfakeTwoLeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKfake(t)
		first := k.dial()
		one := first.join("", time.Minute)
		second, third := k.dial(), k.dial()
		two := second.joining("", time.Minute)
		three := third.joining("", time.Minute)
		synctest.Wait()
		leave := kmsg.NewPtrLeaveGroupRequest()
		leave.Group, leave.MemberID = "g", one.MemberID
		ask[*kmsg.LeaveGroupResponse](first, leave, 2)

		leaders := 0
		for _, answer := range []*kmsg.JoinGroupResponse{<-two, <-three} {
			if answer.LeaderID == answer.MemberID && len(answer.Members) == 2 {
				leaders++
			}
		}
		if leaders != 2 {
			t.Errorf("%d of 2 members are told that they lead, not both as before: kfake has changed."+
				" If it is one, point 1 can go from docs/kfake.md", leaders)
		}
	})
}

// TestKfakeSyncCountsAsJoin: a member that waits in SyncGroup loses its session. In
// Kafka a member that waits there keeps it; and were it gone, the one that is left
// would be everybody, and its JoinGroup answered at once.
func TestKfakeSyncCountsAsJoin(t *testing.T) {
	const rebalance = time.Minute // all that join say this
	synctest.Test(t, func(t *testing.T) {
		k := newKfake(t)
		leader, follower := k.dial(), k.dial()
		one := leader.join("", 5*time.Minute)
		two := follower.joining("", 6*time.Second)
		synctest.Wait()
		one = leader.join(one.MemberID, 5*time.Minute)
		sync := kmsg.NewPtrSyncGroupRequest()
		sync.Group, sync.Generation, sync.MemberID = "g", one.Generation, (<-two).MemberID
		follower.send(sync, 2)
		time.Sleep(7 * time.Second) // the leader has not decided yet

		began := time.Now()
		leader.join(one.MemberID, 5*time.Minute)
		if took := time.Since(began); took < rebalance-10*time.Second {
			t.Errorf("the member that is left joined within %v and not after the rebalance timeout "+
				"of %v: kfake has changed. Point 2 can go from docs/kfake.md, and the short "+
				"RebalanceTimeout from the classic worlds (sim/worlds/landing.go)", took, rebalance)
		}
	})
}

// TestKfakeNeverExpires: the connection of a joining member is closed before
// JoinGroup is answered. Kafka puts the member out when its session is over. Whether
// kfake does is a matter of chance, since it selects at random between handing the
// answer over and the end of the connection.
func TestKfakeNeverExpires(t *testing.T) {
	const groups = 30
	stayed := 0
	for range groups {
		synctest.Test(t, func(t *testing.T) {
			if closedWhileJoining(t) == 2 {
				stayed++
			}
		})
	}
	if stayed == 0 {
		t.Errorf("the member whose connection was closed stayed in none of %d groups: kfake has "+
			"changed. Point 3 can go from docs/kfake.md, and a crash can close the connections at "+
			"the broker's side (sim/tap/conn.go)", groups)
	}
}

// closedWhileJoining returns how many members the group has ten minutes after one of
// two was closed.
func closedWhileJoining(t *testing.T) int {
	t.Helper()
	const session = 6 * time.Second
	k := newKfake(t)
	alive, gone := k.dial(), k.dial()
	one := alive.join("", session)
	gone.joining("", session)
	synctest.Wait()
	gone.conn.Close()
	synctest.Wait()
	one = alive.join(one.MemberID, session)
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID = "g", one.Generation, one.MemberID
	ask[*kmsg.SyncGroupResponse](alive, sync, 2)
	for range 200 {
		time.Sleep(3 * time.Second)
		beat := kmsg.NewPtrHeartbeatRequest()
		beat.Group, beat.Generation, beat.MemberID = "g", one.Generation, one.MemberID
		if ask[*kmsg.HeartbeatResponse](alive, beat, 2).ErrorCode != 0 {
			return 1 // a rebalance: the other one was put out
		}
	}
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Groups = []string{"g"}
	return len(ask[*kmsg.DescribeGroupsResponse](alive, describe, 2).Groups[0].Members)
}

// TestKfakeEpochPerProducer: a producer raises its epoch with a batch to one
// partition and sends one again that it had sent to another (KIP-360). Kafka checks
// the epoch for each partition and recognises the batch.
func TestKfakeEpochPerProducer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newKfake(t).dial()
		init := kmsg.NewPtrInitProducerIDRequest()
		p := ask[*kmsg.InitProducerIDResponse](c, init, 4)
		sent := batch{producer: p.ProducerID, epoch: p.ProducerEpoch}
		raised := sent
		raised.partition, raised.epoch = 1, raised.epoch+1
		for _, b := range []batch{sent, raised} {
			if got := c.produce(b); got != nil {
				t.Fatalf("%+v: %v", b, got)
			}
		}
		if got := c.produce(sent); got != kerr.InvalidProducerEpoch {
			t.Errorf("the batch that is sent again is answered %v, not INVALID_PRODUCER_EPOCH: kfake has "+
				"changed. If it is taken for a duplicate, final errors for Produce can be drawn "+
				"(sim/schedule/codes.go); write a decision that replaces 0006", got)
		}
	})
}

// TestKfakeStaleInit: a producer that was replaced asks for its next epoch with the
// producer id and epoch that it still knows. Kafka answers PRODUCER_FENCED.
func TestKfakeStaleInit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newKfake(t).dial()
		old := c.init("tx", -1, -1)
		owner := c.init("tx", -1, -1)
		if owner.ProducerID != old.ProducerID || owner.ProducerEpoch != old.ProducerEpoch+1 {
			t.Fatalf("the new owner is %+v, the old one %+v", owner, old)
		}
		again := c.init("tx", old.ProducerID, old.ProducerEpoch)
		if again.ErrorCode != 0 || again.ProducerEpoch != owner.ProducerEpoch+1 {
			t.Fatalf("the old producer is answered %v: kfake has changed. If it is fenced, the line about "+
				"InitProducerID can go from docs/kfake.md", kerr.ErrorForCode(again.ErrorCode))
		}
		b := batch{producer: owner.ProducerID, epoch: owner.ProducerEpoch, transactional: true}
		if got := c.produce(b); got != kerr.InvalidProducerEpoch {
			t.Errorf("the owner that lost its transactional id is answered %v", got)
		}
	})
}

// TestKfakeZombieOpens: a Produce of version 12, which adds its partition to the
// transaction by itself (KIP-890), comes from a producer that was replaced. Kafka
// refuses it and nothing else happens.
func TestKfakeZombieOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newKfake(t).dial()
		old := c.init("tx", -1, -1)
		owner := c.init("tx", -1, -1)
		if state := c.describe("tx").State; state != "Empty" {
			t.Fatalf("the owner's transaction is %s", state)
		}
		b := batch{producer: old.ProducerID, epoch: old.ProducerEpoch, transactional: true}
		if got := c.produce(b); got != kerr.InvalidProducerEpoch {
			t.Fatalf("the zombie is answered %v", got)
		}
		const gone = "kfake has changed: the line about a zombie's Produce can go from docs/kfake.md"
		if state := c.describe("tx").State; state != "Ongoing" {
			t.Fatalf("the owner's transaction is %s, not Ongoing: %s", state, gone)
		}
		time.Sleep(2 * txnTimeout)
		after := c.describe("tx")
		if after.State != "Empty" || after.ProducerEpoch != owner.ProducerEpoch+1 {
			t.Errorf("after the transaction timeout the owner's epoch is %d, was %d, %s: %s",
				after.ProducerEpoch, owner.ProducerEpoch, after.State, gone)
		}
	})
}

// txnTimeout is what the producers of these tests say.
const txnTimeout = 10 * time.Second

// cluster is a kfake cluster of one broker with a topic "t" of two partitions.
type cluster struct {
	t       *testing.T
	network *kfake.VirtualNetwork
}

// newKfake returns a cluster that ends with the bubble's test.
func newKfake(t *testing.T) cluster {
	t.Helper()
	k := cluster{t, new(kfake.VirtualNetwork)}
	c, err := kfake.NewCluster(
		kfake.Ports(9092), kfake.ListenFn(k.network.Listen), kfake.SeedTopics(2, "t"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return k
}

// wire is a connection on which requests are written by hand.
type wire struct {
	t    *testing.T
	conn net.Conn
}

func (k cluster) dial() *wire {
	k.t.Helper()
	conn, err := k.network.DialContext(context.Background(), "tcp", "127.0.0.1:9092")
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { conn.Close() })
	return &wire{k.t, conn}
}

// send writes a request and returns what its answer is to be read into.
func (w *wire) send(req kmsg.Request, version int16) kmsg.Response {
	req.SetVersion(version)
	if _, err := w.conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, 1)); err != nil {
		w.t.Error(err)
	}
	return req.ResponseKind()
}

// read reads the next answer into resp; it returns false when there is none.
func (w *wire) read(resp kmsg.Response) bool {
	size := make([]byte, 4)
	if _, err := io.ReadFull(w.conn, size); err != nil {
		return false
	}
	body := make([]byte, binary.BigEndian.Uint32(size))
	if _, err := io.ReadFull(w.conn, body); err != nil {
		return false
	}
	header := 4 // the correlation id
	if resp.IsFlexible() {
		header++ // no tags
	}
	if err := resp.ReadFrom(body[header:]); err != nil {
		w.t.Error(err)
	}
	return true
}

// ask sends a request and waits for its answer.
func ask[R kmsg.Response](w *wire, req kmsg.Request, version int16) R {
	w.t.Helper()
	resp := w.send(req, version)
	if !w.read(resp) {
		w.t.Fatalf("%T: no answer", req)
	}
	return resp.(R)
}

// joining sends a JoinGroup to group "g" and returns where its answer will be; none
// when the connection is closed before.
func (w *wire) joining(member string, session time.Duration) <-chan *kmsg.JoinGroupResponse {
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.MemberID, join.ProtocolType = "g", member, "consumer"
	join.SessionTimeoutMillis = int32(session.Milliseconds())
	join.RebalanceTimeoutMillis = int32(time.Minute.Milliseconds())
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name = "range"
	join.Protocols = append(join.Protocols, protocol)
	resp := w.send(join, 3) // the last version that joins without a second request
	answer := make(chan *kmsg.JoinGroupResponse, 1)
	go func() {
		if w.read(resp) {
			answer <- resp.(*kmsg.JoinGroupResponse)
		}
	}()
	return answer
}

func (w *wire) join(member string, session time.Duration) *kmsg.JoinGroupResponse {
	return <-w.joining(member, session)
}

// init asks for a producer id, or for the next epoch of one that is known.
func (w *wire) init(txn string, producer int64, epoch int16) *kmsg.InitProducerIDResponse {
	w.t.Helper()
	init := kmsg.NewPtrInitProducerIDRequest()
	init.TransactionalID = &txn
	init.TransactionTimeoutMillis = int32(txnTimeout.Milliseconds())
	init.ProducerID, init.ProducerEpoch = producer, epoch
	return ask[*kmsg.InitProducerIDResponse](w, init, 4)
}

// describe says how a transactional id stands.
func (w *wire) describe(txn string) kmsg.DescribeTransactionsResponseTransactionState {
	w.t.Helper()
	describe := kmsg.NewPtrDescribeTransactionsRequest()
	describe.TransactionalIDs = []string{txn}
	return ask[*kmsg.DescribeTransactionsResponse](w, describe, 0).TransactionStates[0]
}

// batch is a record batch of one record, the first of its producer.
type batch struct {
	partition     int32
	producer      int64
	epoch         int16
	transactional bool
}

// produce sends a batch to topic "t" and returns the partition's error.
func (w *wire) produce(b batch) error {
	w.t.Helper()
	produce := kmsg.NewPtrProduceRequest()
	produce.Acks, produce.TimeoutMillis = -1, 1000
	if b.transactional {
		txn := "tx"
		produce.TransactionID = &txn
	}
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = "t"
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Partition, partition.Records = b.partition, b.bytes()
	topic.Partitions = append(topic.Partitions, partition)
	produce.Topics = append(produce.Topics, topic)
	resp := ask[*kmsg.ProduceResponse](w, produce, 12)
	return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}

func (b batch) bytes() []byte {
	// Attributes, timestamp and offset deltas, no key, a value of one byte, no headers.
	record := []byte{0, 0, 0, 1, 2, 'v', 0}
	record = append([]byte{byte(2 * len(record))}, record...) // its length, as a varint
	rb := kmsg.RecordBatch{
		Length: int32(49 + len(record)), PartitionLeaderEpoch: -1, Magic: 2,
		ProducerID: b.producer, ProducerEpoch: b.epoch, NumRecords: 1, Records: record,
	}
	if b.transactional {
		rb.Attributes = 0x10
	}
	const crcAt, summed = 17, 21
	out := rb.AppendTo(nil)
	sum := crc32.Checksum(out[summed:], crc32.MakeTable(crc32.Castagnoli))
	binary.BigEndian.PutUint32(out[crcAt:], sum)
	return out
}
