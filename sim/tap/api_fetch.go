package tap

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

func init() {
	register(kmsg.Fetch.Int16(), api{request: fetchRequest, reply: fetchReply,
		blank: fetchBlank, fail: fetchFail})
	register(kmsg.ListOffsets.Int16(), api{request: listRequest, reply: listReply,
		blank: listBlank, fail: listFail})
}

func fetchRequest(n *Names, q kmsg.Request, e *model.Event) {
	req := q.(*kmsg.FetchRequest)
	if req.IsolationLevel == 1 {
		e.Note = "read_committed"
	}
	for _, t := range req.Topics {
		topic := n.topic(t.Topic, t.TopicID)
		for _, p := range t.Partitions {
			part := model.PartOf(topic, p.Partition)
			part.Offset = p.FetchOffset
			e.Parts = append(e.Parts, part)
		}
	}
	SortParts(e.Parts)
}

func fetchReply(n *Names, _ kmsg.Request, p kmsg.Response, e *model.Event) {
	resp := p.(*kmsg.FetchResponse)
	e.Err = errorName(resp.ErrorCode)
	for _, t := range resp.Topics {
		topic := n.topic(t.Topic, t.TopicID)
		for _, rp := range t.Partitions {
			part := model.PartOf(topic, rp.Partition)
			part.End, part.Stable = rp.HighWatermark, rp.LastStableOffset
			part.Err = errorName(rp.ErrorCode)
			part.Records = n.Records(topic, rp.RecordBatches)
			e.Parts = append(e.Parts, part)
		}
	}
	SortParts(e.Parts)
	if e.Err != "" {
		e.Outcome = model.NotDone
	}
}

// fetchBlank names partitions before version 7 alone, where an error has no other
// place. Later a reply without partitions does not speak of the fetch session either,
// which a made-up one cannot know.
func fetchBlank(q kmsg.Request, p kmsg.Response) {
	resp := p.(*kmsg.FetchResponse)
	if resp.Version >= 7 {
		return
	}
	for _, t := range q.(*kmsg.FetchRequest).Topics {
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic = t.Topic
		for _, tp := range t.Partitions {
			rp := kmsg.NewFetchResponseTopicPartition()
			rp.Partition, rp.HighWatermark = tp.Partition, -1
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
}

func fetchFail(p kmsg.Response, code int16) {
	resp := p.(*kmsg.FetchResponse)
	if len(resp.Topics) == 0 {
		resp.ErrorCode = code
		return
	}
	for _, t := range resp.Topics {
		for i := range t.Partitions {
			t.Partitions[i].ErrorCode = code
			t.Partitions[i].RecordBatches = nil
		}
	}
}

func listRequest(n *Names, q kmsg.Request, e *model.Event) {
	for _, t := range q.(*kmsg.ListOffsetsRequest).Topics {
		for _, p := range t.Partitions {
			part := model.PartOf(t.Topic, p.Partition)
			part.Offset = p.Timestamp // -1 latest, -2 earliest
			e.Parts = append(e.Parts, part)
		}
	}
	SortParts(e.Parts)
}

func listReply(_ *Names, _ kmsg.Request, p kmsg.Response, e *model.Event) {
	for _, t := range p.(*kmsg.ListOffsetsResponse).Topics {
		for _, rp := range t.Partitions {
			part := model.PartOf(t.Topic, rp.Partition)
			part.Offset, part.Err = rp.Offset, errorName(rp.ErrorCode)
			e.Parts = append(e.Parts, part)
		}
	}
	SortParts(e.Parts)
}

func listBlank(q kmsg.Request, p kmsg.Response) {
	resp := p.(*kmsg.ListOffsetsResponse)
	for _, t := range q.(*kmsg.ListOffsetsRequest).Topics {
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = t.Topic
		for _, tp := range t.Partitions {
			rp := kmsg.NewListOffsetsResponseTopicPartition()
			rp.Partition = tp.Partition
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
}

func listFail(p kmsg.Response, code int16) {
	for _, t := range p.(*kmsg.ListOffsetsResponse).Topics {
		for i := range t.Partitions {
			t.Partitions[i].ErrorCode = code
		}
	}
}
