package tap

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

func init() {
	register(kmsg.OffsetCommit.Int16(), api{request: commitRequest, reply: commitReply,
		blank: commitBlank, fail: commitFail})
	register(kmsg.OffsetFetch.Int16(), api{request: offsetFetchRequest, reply: offsetFetchReply,
		blank: offsetFetchBlank, fail: offsetFetchFail})
}

// SortParts orders parts by topic and partition, since clients build requests from maps.
func SortParts(parts []model.Part) {
	slices.SortStableFunc(parts, func(a, b model.Part) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
}

func commitRequest(n *Names, q kmsg.Request, e *model.Event) {
	req := q.(*kmsg.OffsetCommitRequest)
	e.Group, e.Member, e.Generation = req.Group, req.MemberID, req.Generation
	for _, t := range req.Topics {
		topic := n.topic(t.Topic, t.TopicID)
		for _, p := range t.Partitions {
			part := model.PartOf(topic, p.Partition)
			part.Offset = p.Offset
			e.Parts = append(e.Parts, part)
		}
	}
	SortParts(e.Parts)
}

// commitReply repeats the offsets of the request, each with its error.
func commitReply(n *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
	commitRequest(n, q, e)
	for _, t := range p.(*kmsg.OffsetCommitResponse).Topics {
		topic := n.topic(t.Topic, t.TopicID)
		for _, rp := range t.Partitions {
			failPart(e, topic, rp.Partition, rp.ErrorCode)
		}
	}
}

func commitBlank(q kmsg.Request, p kmsg.Response) {
	resp := p.(*kmsg.OffsetCommitResponse)
	for _, t := range q.(*kmsg.OffsetCommitRequest).Topics {
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, tp := range t.Partitions {
			rp := kmsg.NewOffsetCommitResponseTopicPartition()
			rp.Partition = tp.Partition
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
}

func commitFail(p kmsg.Response, code int16) {
	for _, t := range p.(*kmsg.OffsetCommitResponse).Topics {
		for i := range t.Partitions {
			t.Partitions[i].ErrorCode = code
		}
	}
}

func offsetFetchRequest(_ *Names, q kmsg.Request, e *model.Event) {
	req := q.(*kmsg.OffsetFetchRequest)
	e.Group = req.Group
	for _, g := range req.Groups {
		e.Group, e.Generation = g.Group, g.MemberEpoch
		if g.MemberID != nil {
			e.Member = *g.MemberID
		}
	}
	if req.RequireStable {
		e.Note = "require-stable"
	}
}

func offsetFetchReply(n *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
	offsetFetchRequest(n, q, e)
	resp := p.(*kmsg.OffsetFetchResponse)
	e.Err = errorName(resp.ErrorCode)
	for _, t := range resp.Topics {
		for _, rp := range t.Partitions {
			part := model.PartOf(t.Topic, rp.Partition)
			part.Offset, part.Err = rp.Offset, errorName(rp.ErrorCode)
			e.Parts = append(e.Parts, part)
		}
	}
	for _, g := range resp.Groups {
		e.Err = cmp.Or(e.Err, errorName(g.ErrorCode))
		for _, t := range g.Topics {
			for _, rp := range t.Partitions {
				part := model.PartOf(n.topic(t.Topic, t.TopicID), rp.Partition)
				part.Offset, part.Err = rp.Offset, errorName(rp.ErrorCode)
				e.Parts = append(e.Parts, part)
			}
		}
	}
	SortParts(e.Parts)
	if e.Err != "" {
		e.Outcome = model.NotDone
	}
}

func offsetFetchBlank(q kmsg.Request, p kmsg.Response) {
	req, resp := q.(*kmsg.OffsetFetchRequest), p.(*kmsg.OffsetFetchResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewOffsetFetchResponseTopic()
		rt.Topic = t.Topic
		for _, partition := range t.Partitions {
			rp := kmsg.NewOffsetFetchResponseTopicPartition()
			rp.Partition, rp.Offset = partition, -1
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	for _, g := range req.Groups {
		rg := kmsg.NewOffsetFetchResponseGroup()
		rg.Group = g.Group
		resp.Groups = append(resp.Groups, rg)
	}
}

func offsetFetchFail(p kmsg.Response, code int16) {
	resp := p.(*kmsg.OffsetFetchResponse)
	resp.ErrorCode = code
	for _, t := range resp.Topics {
		for i := range t.Partitions { // before version 2 the only place
			t.Partitions[i].ErrorCode, t.Partitions[i].Offset = code, -1
		}
	}
	for i := range resp.Groups {
		resp.Groups[i].ErrorCode = code
		resp.Groups[i].Topics = nil
	}
}
