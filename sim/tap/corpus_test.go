package tap

import (
	"maps"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// corpus is an exchange of every registered API that fits all its versions: what a
// version does not know is left out when it is put on the wire.
func corpus(t testing.TB) []exchange {
	t.Helper()
	two := []producedTo{{"a", idA, 0, 0, 5}, {"b", idB, 1, 0, 6}}
	commit, committed := offsetCommit(two...)
	all := []exchange{
		{req: produce(t, -1, kmsg.StringPtr("T"), toPartition{"a", idA, 0, []batch{plain(0, "x")}},
			toPartition{"b", idB, 1, []batch{plain(0, "y")}}), resp: produced(two...)},
		{req: fetch(1, two...),
			resp: withBatches(t, fetched(9, 9, two...), plain(5, "x"), control(6, 1, 1))},
		{req: commit, resp: committed},
		{req: kmsg.NewPtrMetadataRequest(), resp: kmsg.NewPtrMetadataResponse()},
		{req: kmsg.NewPtrApiVersionsRequest(), resp: kmsg.NewPtrApiVersionsResponse()},
	}
	all = append(all, groupCorpus()...)
	all = append(all, offsetsCorpus()...)
	all = append(all, txnCorpus()...)
	keys := make(map[int16]bool)
	for i, x := range all {
		keys[x.req.Key()] = true
		all[i].name = kmsg.NameForKey(x.req.Key())
		for v := range x.req.MaxVersion() + 1 {
			all[i].versions = append(all[i].versions, v)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(apis)) {
		if !keys[key] {
			t.Errorf("the corpus has no exchange of %s", kmsg.NameForKey(key))
		}
	}
	return all
}

func groupCorpus() []exchange {
	find, join := kmsg.NewPtrFindCoordinatorRequest(), kmsg.NewPtrJoinGroupRequest()
	find.CoordinatorKey, find.CoordinatorKeys = "g", []string{"g", "h"}
	join.Group, join.MemberID = "g", "abc"
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group, leave.MemberID = "g", "abc"
	leave.Members = []kmsg.LeaveGroupRequestMember{{MemberID: "abc"}}
	sync, beat := kmsg.NewPtrSyncGroupRequest(), kmsg.NewPtrHeartbeatRequest()
	sync.Group, beat.Group = "g", "g"
	member := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	member.Group, member.MemberID = "g", "abc"
	return []exchange{
		{req: find, resp: &kmsg.FindCoordinatorResponse{
			Coordinators: []kmsg.FindCoordinatorResponseCoordinator{{Key: "g"}, {Key: "h"}},
		}},
		{req: join, resp: kmsg.NewPtrJoinGroupResponse()},
		{req: sync, resp: kmsg.NewPtrSyncGroupResponse()},
		{req: beat, resp: kmsg.NewPtrHeartbeatResponse()},
		{req: leave, resp: kmsg.NewPtrLeaveGroupResponse()},
		{req: member, resp: kmsg.NewPtrConsumerGroupHeartbeatResponse()},
	}
}

func offsetsCorpus() []exchange {
	list, listed := kmsg.NewPtrListOffsetsRequest(), kmsg.NewPtrListOffsetsResponse()
	list.Topics = []kmsg.ListOffsetsRequestTopic{{
		Topic: "a", Partitions: []kmsg.ListOffsetsRequestTopicPartition{{Timestamp: -1}},
	}}
	listed.Topics = []kmsg.ListOffsetsResponseTopic{{
		Topic: "a", Partitions: []kmsg.ListOffsetsResponseTopicPartition{{Offset: 4}},
	}}
	ask, told := kmsg.NewPtrOffsetFetchRequest(), kmsg.NewPtrOffsetFetchResponse()
	ask.Group = "g"
	ask.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "a", Partitions: []int32{0, 1}}}
	ask.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "g"}}
	told.Topics = []kmsg.OffsetFetchResponseTopic{{
		Topic: "a", Partitions: []kmsg.OffsetFetchResponseTopicPartition{{Offset: 3}},
	}}
	told.Groups = []kmsg.OffsetFetchResponseGroup{{Group: "g"}}
	return []exchange{{req: list, resp: listed}, {req: ask, resp: told}}
}

func txnCorpus() []exchange {
	add, added := kmsg.NewPtrAddPartitionsToTxnRequest(), kmsg.NewPtrAddPartitionsToTxnResponse()
	add.TransactionalID = "T"
	add.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: "a", Partitions: []int32{0, 1}}}
	added.Topics = []kmsg.AddPartitionsToTxnResponseTopic{{
		Topic: "a", Partitions: []kmsg.AddPartitionsToTxnResponseTopicPartition{{}, {Partition: 1}},
	}}
	commit, committed := kmsg.NewPtrTxnOffsetCommitRequest(), kmsg.NewPtrTxnOffsetCommitResponse()
	commit.TransactionalID, commit.Group = "T", "g"
	commit.Topics = []kmsg.TxnOffsetCommitRequestTopic{{
		Topic: "a", TopicID: idA,
		Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: 4}},
	}}
	committed.Topics = []kmsg.TxnOffsetCommitResponseTopic{{
		Topic: "a", TopicID: idA,
		Partitions: []kmsg.TxnOffsetCommitResponseTopicPartition{{}},
	}}
	offsets, end := kmsg.NewPtrAddOffsetsToTxnRequest(), kmsg.NewPtrEndTxnRequest()
	offsets.TransactionalID, offsets.Group, end.TransactionalID = "T", "g", "T"
	return []exchange{
		{req: kmsg.NewPtrInitProducerIDRequest(), resp: kmsg.NewPtrInitProducerIDResponse()},
		{req: add, resp: added},
		{req: commit, resp: committed},
		{req: offsets, resp: kmsg.NewPtrAddOffsetsToTxnResponse()},
		{req: end, resp: kmsg.NewPtrEndTxnResponse()},
	}
}
