package tap

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

func init() {
	register(kmsg.Produce.Int16(), api{
		request: produceRequest, reply: produceReply, blank: produceBlank, fail: produceFail,
	})
}

func produceRequest(n *Names, q kmsg.Request, e *model.Event) {
	req := q.(*kmsg.ProduceRequest)
	if req.TransactionID != nil {
		e.TxnID = *req.TransactionID
	}
	if req.Acks == 0 {
		e.Note = "acks=0"
	}
	for _, t := range req.Topics {
		topic := n.topic(t.Topic, t.TopicID)
		for _, p := range t.Partitions {
			part := model.PartOf(topic, p.Partition)
			for _, b := range batches(p.Records) {
				e.Producer, e.Epoch = b.ProducerID+1, max(b.ProducerEpoch, 0)
				if part.Sequence < 0 {
					part.Sequence = b.FirstSequence
				}
				part.Records = n.appendRecords(part.Records, topic, b, -1)
			}
			for i := range part.Records {
				part.Records[i].Producer = 0 // the event says it
			}
			e.Parts = append(e.Parts, part)
		}
	}
	SortParts(e.Parts)
}

// produceReply repeats the records of the request at the offsets that they got.
func produceReply(n *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
	produceRequest(n, q, e)
	resp := p.(*kmsg.ProduceResponse)
	for _, t := range resp.Topics {
		topic := n.topic(t.Topic, t.TopicID)
		for _, rp := range t.Partitions {
			part := findPart(e.Parts, topic, rp.Partition)
			if part == nil {
				continue
			}
			failPart(e, topic, rp.Partition, rp.ErrorCode)
			if part.Err != "" || rp.BaseOffset < 0 {
				continue
			}
			part.Offset = rp.BaseOffset
			for i := range part.Records {
				part.Records[i].Offset = rp.BaseOffset + int64(i)
			}
		}
	}
}

func findPart(parts []model.Part, topic string, partition int32) *model.Part {
	for i := range parts {
		if parts[i].Topic == topic && parts[i].Partition == partition {
			return &parts[i]
		}
	}
	return nil
}

func produceBlank(q kmsg.Request, p kmsg.Response) {
	resp := p.(*kmsg.ProduceResponse)
	for _, t := range q.(*kmsg.ProduceRequest).Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, tp := range t.Partitions {
			rp := kmsg.NewProduceResponseTopicPartition()
			rp.Partition = tp.Partition
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
}

func produceFail(p kmsg.Response, code int16) {
	for _, t := range p.(*kmsg.ProduceResponse).Topics {
		for i := range t.Partitions {
			t.Partitions[i].ErrorCode = code
			t.Partitions[i].BaseOffset = -1
		}
	}
}
