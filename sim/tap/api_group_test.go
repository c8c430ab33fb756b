package tap

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestFindCoordinator(t *testing.T) {
	old, now := kmsg.NewPtrFindCoordinatorRequest(), kmsg.NewPtrFindCoordinatorRequest()
	old.CoordinatorKey = "g"
	now.CoordinatorKeys = []string{"g"}
	one := kmsg.NewFindCoordinatorResponseCoordinator()
	one.Key, one.ErrorCode = "g", kerr.CoordinatorLoadInProgress.Code
	playAll(t, newTestNames(), []exchange{
		{
			name: "one group", versions: []int16{0, 1, 2, 3},
			req: old, resp: &kmsg.FindCoordinatorResponse{Host: "h", Port: 1},
			wantAsked: "request FindCoordinator", wantAnswer: "reply FindCoordinator done",
		},
		{
			name: "one group, not there", versions: []int16{0, 2, 3},
			req:        old,
			resp:       &kmsg.FindCoordinatorResponse{ErrorCode: kerr.CoordinatorNotAvailable.Code},
			wantAsked:  "request FindCoordinator",
			wantAnswer: "reply FindCoordinator unknown err=COORDINATOR_NOT_AVAILABLE",
		},
		{
			name: "a list", versions: []int16{4, 6},
			req: now,
			resp: &kmsg.FindCoordinatorResponse{
				Coordinators: []kmsg.FindCoordinatorResponseCoordinator{one},
			},
			wantAsked:  "request FindCoordinator",
			wantAnswer: "reply FindCoordinator not-done err=COORDINATOR_LOAD_IN_PROGRESS",
		},
	})
}

func TestJoinGroup(t *testing.T) {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = "g", "abc", "consumer"
	resp := func(leader string, code int16) *kmsg.JoinGroupResponse {
		r := kmsg.NewPtrJoinGroupResponse()
		r.Generation, r.LeaderID, r.MemberID, r.ErrorCode = 3, leader, "abc", code
		return r
	}
	versions := []int16{1, 5, 6, 9}
	playAll(t, newTestNames(), []exchange{
		{
			name: "leader", versions: versions, req: req, resp: resp("abc", 0),
			wantAsked:  "request JoinGroup group=g member=abc",
			wantAnswer: "reply JoinGroup done group=g member=abc gen=3 note=leader",
		},
		{
			name: "follower", versions: versions, req: req, resp: resp("other", 0),
			wantAsked:  "request JoinGroup group=g member=abc",
			wantAnswer: "reply JoinGroup done group=g member=abc gen=3",
		},
		{
			name: "a member id first", versions: versions, req: req,
			resp:       resp("", kerr.MemberIDRequired.Code),
			wantAsked:  "request JoinGroup group=g member=abc",
			wantAnswer: "reply JoinGroup not-done err=MEMBER_ID_REQUIRED group=g member=abc gen=3",
		},
	})
}

func TestSyncGroupAndHeartbeat(t *testing.T) {
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.MemberID, sync.Generation = "g", "abc", 3
	beat := kmsg.NewPtrHeartbeatRequest()
	beat.Group, beat.MemberID, beat.Generation = "g", "abc", 3
	rebalance := kerr.RebalanceInProgress.Code
	playAll(t, newTestNames(), []exchange{
		{
			name: "sync", versions: []int16{0, 3, 4, 5},
			req: sync, resp: kmsg.NewPtrSyncGroupResponse(),
			wantAsked:  "request SyncGroup group=g member=abc gen=3",
			wantAnswer: "reply SyncGroup done group=g member=abc gen=3",
		},
		{
			name: "sync fails", versions: []int16{0, 3, 4, 5},
			req: sync, resp: &kmsg.SyncGroupResponse{ErrorCode: rebalance},
			wantAsked:  "request SyncGroup group=g member=abc gen=3",
			wantAnswer: "reply SyncGroup not-done err=REBALANCE_IN_PROGRESS group=g member=abc gen=3",
		},
		{
			name: "heartbeat", versions: []int16{0, 3, 4},
			req: beat, resp: kmsg.NewPtrHeartbeatResponse(),
			wantAsked:  "request Heartbeat group=g member=abc gen=3",
			wantAnswer: "reply Heartbeat done group=g member=abc gen=3",
		},
		{
			name: "heartbeat fails", versions: []int16{0, 3, 4},
			req: beat, resp: &kmsg.HeartbeatResponse{ErrorCode: rebalance},
			wantAsked:  "request Heartbeat group=g member=abc gen=3",
			wantAnswer: "reply Heartbeat not-done err=REBALANCE_IN_PROGRESS group=g member=abc gen=3",
		},
	})
}

func TestLeaveGroup(t *testing.T) {
	old := kmsg.NewPtrLeaveGroupRequest()
	old.Group, old.MemberID = "g", "abc"
	now := kmsg.NewPtrLeaveGroupRequest()
	now.Group = "g"
	member := kmsg.NewLeaveGroupRequestMember()
	member.MemberID = "abc"
	now.Members = append(now.Members, member)
	unknown := kmsg.NewLeaveGroupResponseMember()
	unknown.MemberID, unknown.ErrorCode = "abc", kerr.UnknownMemberID.Code
	playAll(t, newTestNames(), []exchange{
		{
			name: "one member", versions: []int16{0, 2},
			req: old, resp: kmsg.NewPtrLeaveGroupResponse(),
			wantAsked:  "request LeaveGroup group=g member=abc",
			wantAnswer: "reply LeaveGroup done group=g",
		},
		{
			name: "the group says no", versions: []int16{0, 2},
			req: old, resp: &kmsg.LeaveGroupResponse{ErrorCode: kerr.NotCoordinator.Code},
			wantAsked:  "request LeaveGroup group=g member=abc",
			wantAnswer: "reply LeaveGroup unknown err=NOT_COORDINATOR group=g",
		},
		{
			name: "a member that is unknown", versions: []int16{3, 4, 5},
			req: now,
			resp: &kmsg.LeaveGroupResponse{
				Members: []kmsg.LeaveGroupResponseMember{unknown},
			},
			wantAsked:  "request LeaveGroup group=g member=abc",
			wantAnswer: "reply LeaveGroup not-done err=UNKNOWN_MEMBER_ID group=g",
		},
	})
}

func TestConsumerGroupHeartbeat(t *testing.T) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.MemberEpoch = "g", "abc", 4
	owned := kmsg.NewConsumerGroupHeartbeatRequestTopic()
	owned.TopicID, owned.Partitions = idB, []int32{2, 1}
	req.Topics = append(req.Topics, owned)

	given := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	given.MemberID, given.MemberEpoch = kmsg.StringPtr("abc"), 5
	assigned := kmsg.NewConsumerGroupHeartbeatResponseAssignmentTopic()
	assigned.TopicID, assigned.Partitions = idA, []int32{1, 0}
	assignment := kmsg.NewConsumerGroupHeartbeatResponseAssignment()
	assignment.Topics = append(assignment.Topics, assigned)
	given.Assignment = &assignment

	plain := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	plain.MemberEpoch = 4
	fenced := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	fenced.ErrorCode = kerr.FencedMemberEpoch.Code
	leave := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	leave.Group, leave.MemberID, leave.MemberEpoch = "g", "abc", -1
	left := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	left.MemberEpoch = -1

	const asked = "request ConsumerGroupHeartbeat group=g member=abc gen=4 [b/1] [b/2]"
	versions := []int16{0, 1}
	playAll(t, newTestNames(), []exchange{
		{
			name: "an assignment", versions: versions, req: req, resp: given, wantAsked: asked,
			wantAnswer: "reply ConsumerGroupHeartbeat done group=g member=abc gen=5 [a/0] [a/1] note=assignment",
		},
		{
			name: "nothing new", versions: versions, req: req, resp: plain, wantAsked: asked,
			wantAnswer: "reply ConsumerGroupHeartbeat done group=g member=abc gen=4",
		},
		{
			name: "fenced", versions: versions, req: req, resp: fenced, wantAsked: asked,
			wantAnswer: "reply ConsumerGroupHeartbeat not-done err=FENCED_MEMBER_EPOCH group=g member=abc",
		},
		{
			name: "leaving", versions: versions, req: leave, resp: left,
			wantAsked:  "request ConsumerGroupHeartbeat group=g member=abc gen=-1",
			wantAnswer: "reply ConsumerGroupHeartbeat done group=g member=abc gen=-1",
		},
	})
}
