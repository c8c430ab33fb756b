package tap

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func offsetCommit(to ...producedTo) (*kmsg.OffsetCommitRequest, *kmsg.OffsetCommitResponse) {
	req, resp := kmsg.NewPtrOffsetCommitRequest(), kmsg.NewPtrOffsetCommitResponse()
	req.Group, req.MemberID, req.Generation = "g", "abc", 2
	for _, p := range to {
		rt, at := kmsg.NewOffsetCommitRequestTopic(), kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID, at.Topic, at.TopicID = p.topic, p.id, p.topic, p.id
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.Offset = p.partition, p.base
		ap := kmsg.NewOffsetCommitResponseTopicPartition()
		ap.Partition, ap.ErrorCode = p.partition, p.code
		rt.Partitions, at.Partitions = append(rt.Partitions, rp), append(at.Partitions, ap)
		req.Topics, resp.Topics = append(req.Topics, rt), append(resp.Topics, at)
	}
	return req, resp
}

// commitVersions: names, flexible frames, topic ids.
var commitVersions = []int16{2, 7, 8, 9, 10}

func TestOffsetCommit(t *testing.T) {
	req, resp := offsetCommit(producedTo{"b", idB, 1, 0, 9}, producedTo{"b", idB, 0, 0, 8},
		producedTo{"a", idA, 3, 0, 7})
	const offsets = "group=g member=abc gen=2 [a/3 @7] [b/0 @8] [b/1 @9]"
	all := []exchange{{
		name: "sorted", versions: commitVersions, req: req, resp: resp,
		wantAsked:  "request OffsetCommit " + offsets,
		wantAnswer: "reply OffsetCommit done " + offsets,
	}}
	for _, x := range []struct {
		name string
		code int16
		want string
	}{
		{"refused", kerr.UnknownMemberID.Code, "not-done group=g member=abc gen=2 [a/0 @5] [a/1 @6 err=UNKNOWN_MEMBER_ID]"},
		{"left open", kerr.RequestTimedOut.Code, "unknown group=g member=abc gen=2 [a/0 @5] [a/1 @6 err=REQUEST_TIMED_OUT]"},
	} {
		req, resp := offsetCommit(producedTo{"a", idA, 1, x.code, 6}, producedTo{"a", idA, 0, 0, 5})
		stray := kmsg.NewOffsetCommitResponseTopicPartition() // nobody asked
		stray.Partition, stray.ErrorCode = 8, kerr.IllegalGeneration.Code
		resp.Topics[0].Partitions = append(resp.Topics[0].Partitions, stray)
		all = append(all, exchange{
			name: x.name, versions: commitVersions, req: req, resp: resp,
			wantAsked:  "request OffsetCommit group=g member=abc gen=2 [a/0 @5] [a/1 @6]",
			wantAnswer: "reply OffsetCommit " + x.want,
		})
	}
	playAll(t, newTestNames(), all)
}

func TestOffsetFetch(t *testing.T) {
	old := kmsg.NewPtrOffsetFetchRequest()
	old.Group, old.RequireStable = "g", true
	oldResp := func(code int16) *kmsg.OffsetFetchResponse {
		r := kmsg.NewPtrOffsetFetchResponse()
		rt := kmsg.NewOffsetFetchResponseTopic()
		rt.Topic = "a"
		for i, code := range []int16{kerr.UnstableOffsetCommit.Code, 0} {
			rp := kmsg.NewOffsetFetchResponseTopicPartition()
			rp.Partition, rp.Offset, rp.ErrorCode = int32(1-i), int64(10*i)-1, code
			rt.Partitions = append(rt.Partitions, rp)
		}
		r.Topics, r.ErrorCode = append(r.Topics, rt), code
		return r
	}
	now, group := kmsg.NewPtrOffsetFetchRequest(), kmsg.NewOffsetFetchRequestGroup()
	group.Group, group.MemberID, group.MemberEpoch = "g", kmsg.StringPtr("abc"), 6
	now.Groups = append(now.Groups, group)
	nowResp := func(code int16) *kmsg.OffsetFetchResponse {
		r, g := kmsg.NewPtrOffsetFetchResponse(), kmsg.NewOffsetFetchResponseGroup()
		rt := kmsg.NewOffsetFetchResponseGroupTopic()
		rt.Topic, rt.TopicID = "a", idA
		rp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		rp.Partition, rp.Offset = 1, 9
		rt.Partitions = append(rt.Partitions, rp)
		g.Group, g.ErrorCode, g.Topics = "g", code, append(g.Topics, rt)
		r.Groups = append(r.Groups, g)
		return r
	}
	playAll(t, newTestNames(), []exchange{
		{
			name: "one group", versions: []int16{7}, req: old, resp: oldResp(0),
			wantAsked:  "request OffsetFetch group=g note=require-stable",
			wantAnswer: "reply OffsetFetch done group=g [a/0 @9] [a/1 err=UNSTABLE_OFFSET_COMMIT] note=require-stable",
		},
		{
			name: "one group, refused", versions: []int16{2, 5, 6, 7}, req: func() kmsg.Request {
				r := kmsg.NewPtrOffsetFetchRequest()
				r.Group = "g"
				return r
			}(), resp: &kmsg.OffsetFetchResponse{ErrorCode: kerr.NotCoordinator.Code},
			wantAsked:  "request OffsetFetch group=g",
			wantAnswer: "reply OffsetFetch not-done err=NOT_COORDINATOR group=g",
		},
		{
			name: "groups with a member", versions: []int16{9, 10}, req: now, resp: nowResp(0),
			wantAsked:  "request OffsetFetch group=g member=abc gen=6",
			wantAnswer: "reply OffsetFetch done group=g member=abc gen=6 [a/1 @9]",
		},
		{
			name: "groups, refused", versions: []int16{9, 10}, req: now,
			resp:       nowResp(kerr.StaleMemberEpoch.Code),
			wantAsked:  "request OffsetFetch group=g member=abc gen=6",
			wantAnswer: "reply OffsetFetch not-done err=STALE_MEMBER_EPOCH group=g member=abc gen=6 [a/1 @9]",
		},
	})
}
