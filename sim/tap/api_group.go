package tap

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

func init() {
	register(kmsg.FindCoordinator.Int16(), api{reply: coordinatorReply,
		blank: coordinatorBlank, fail: coordinatorFail})
	register(kmsg.JoinGroup.Int16(), api{
		request: func(_ *Names, q kmsg.Request, e *model.Event) {
			req := q.(*kmsg.JoinGroupRequest)
			e.Group, e.Member = req.Group, req.MemberID
		},
		reply: func(_ *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
			resp := p.(*kmsg.JoinGroupResponse)
			e.Group, e.Member = q.(*kmsg.JoinGroupRequest).Group, resp.MemberID
			e.Generation = resp.Generation
			if resp.LeaderID != "" && resp.LeaderID == resp.MemberID {
				e.Note = "leader"
			}
			answered(e, resp.ErrorCode)
		},
		fail: func(p kmsg.Response, code int16) { p.(*kmsg.JoinGroupResponse).ErrorCode = code },
	})
	register(kmsg.SyncGroup.Int16(), api{
		request: func(_ *Names, q kmsg.Request, e *model.Event) {
			req := q.(*kmsg.SyncGroupRequest)
			e.Group, e.Member, e.Generation = req.Group, req.MemberID, req.Generation
		},
		reply: func(_ *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
			req := q.(*kmsg.SyncGroupRequest)
			e.Group, e.Member, e.Generation = req.Group, req.MemberID, req.Generation
			answered(e, p.(*kmsg.SyncGroupResponse).ErrorCode)
		},
		fail: func(p kmsg.Response, code int16) { p.(*kmsg.SyncGroupResponse).ErrorCode = code },
	})
	register(kmsg.Heartbeat.Int16(), api{
		request: func(_ *Names, q kmsg.Request, e *model.Event) {
			req := q.(*kmsg.HeartbeatRequest)
			e.Group, e.Member, e.Generation = req.Group, req.MemberID, req.Generation
		},
		reply: func(_ *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
			req := q.(*kmsg.HeartbeatRequest)
			e.Group, e.Member, e.Generation = req.Group, req.MemberID, req.Generation
			answered(e, p.(*kmsg.HeartbeatResponse).ErrorCode)
		},
		fail: func(p kmsg.Response, code int16) { p.(*kmsg.HeartbeatResponse).ErrorCode = code },
	})
	register(kmsg.LeaveGroup.Int16(), api{
		request: func(_ *Names, q kmsg.Request, e *model.Event) {
			req := q.(*kmsg.LeaveGroupRequest)
			e.Group, e.Member = req.Group, req.MemberID
			for _, m := range req.Members {
				e.Member = m.MemberID
			}
		},
		reply: func(_ *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
			resp := p.(*kmsg.LeaveGroupResponse)
			e.Group = q.(*kmsg.LeaveGroupRequest).Group
			answered(e, resp.ErrorCode)
			for _, m := range resp.Members {
				if e.Err == "" {
					answered(e, m.ErrorCode)
				}
			}
		},
		fail: func(p kmsg.Response, code int16) { p.(*kmsg.LeaveGroupResponse).ErrorCode = code },
	})
	register(kmsg.ConsumerGroupHeartbeat.Int16(), api{
		request: consumerHeartbeatRequest, reply: consumerHeartbeatReply,
		fail: func(p kmsg.Response, code int16) {
			p.(*kmsg.ConsumerGroupHeartbeatResponse).ErrorCode = code
		},
	})
}

// answered sets what a reply with one error code says.
func answered(e *model.Event, code int16) {
	e.Err = errorName(code)
	conclude(e, code)
}

// consumerHeartbeatRequest is KIP-848's single group request: the member's epoch
// is recorded as its generation (-1 leaves, 0 joins).
func consumerHeartbeatRequest(n *Names, q kmsg.Request, e *model.Event) {
	req := q.(*kmsg.ConsumerGroupHeartbeatRequest)
	e.Group, e.Member, e.Generation = req.Group, req.MemberID, req.MemberEpoch
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			e.Parts = append(e.Parts, model.PartOf(n.topic("", t.TopicID), p))
		}
	}
	SortParts(e.Parts)
}

func consumerHeartbeatReply(n *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
	resp := p.(*kmsg.ConsumerGroupHeartbeatResponse)
	req := q.(*kmsg.ConsumerGroupHeartbeatRequest)
	e.Group, e.Member, e.Generation = req.Group, req.MemberID, resp.MemberEpoch
	if resp.Assignment != nil {
		e.Note = "assignment"
		for _, t := range resp.Assignment.Topics {
			for _, part := range t.Partitions {
				e.Parts = append(e.Parts, model.PartOf(n.topic("", t.TopicID), part))
			}
		}
	}
	SortParts(e.Parts)
	answered(e, resp.ErrorCode)
}

func coordinatorReply(_ *Names, _ kmsg.Request, p kmsg.Response, e *model.Event) {
	resp := p.(*kmsg.FindCoordinatorResponse)
	answered(e, resp.ErrorCode)
	for _, c := range resp.Coordinators {
		if c.ErrorCode != 0 {
			answered(e, c.ErrorCode)
		}
	}
}

func coordinatorBlank(q kmsg.Request, p kmsg.Response) {
	resp := p.(*kmsg.FindCoordinatorResponse)
	for _, key := range q.(*kmsg.FindCoordinatorRequest).CoordinatorKeys {
		c := kmsg.NewFindCoordinatorResponseCoordinator()
		c.Key = key
		resp.Coordinators = append(resp.Coordinators, c)
	}
}

func coordinatorFail(p kmsg.Response, code int16) {
	resp := p.(*kmsg.FindCoordinatorResponse)
	resp.ErrorCode = code
	for i := range resp.Coordinators {
		resp.Coordinators[i].ErrorCode = code
	}
}
