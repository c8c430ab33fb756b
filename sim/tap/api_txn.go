package tap

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

func init() {
	register(kmsg.InitProducerID.Int16(), api{
		request: initRequest, reply: initReply,
		fail: func(p kmsg.Response, code int16) {
			resp := p.(*kmsg.InitProducerIDResponse)
			resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch = code, -1, -1
		},
	})
	register(kmsg.AddPartitionsToTxn.Int16(), api{
		request: addPartitionsRequest, reply: addPartitionsReply,
		blank: addPartitionsBlank, fail: addPartitionsFail,
	})
	register(kmsg.AddOffsetsToTxn.Int16(), api{
		request: addOffsetsRequest,
		reply: func(n *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
			addOffsetsRequest(n, q, e)
			answered(e, p.(*kmsg.AddOffsetsToTxnResponse).ErrorCode)
		},
		fail: func(p kmsg.Response, code int16) {
			p.(*kmsg.AddOffsetsToTxnResponse).ErrorCode = code
		},
	})
	register(kmsg.TxnOffsetCommit.Int16(), api{
		request: txnCommitRequest, reply: txnCommitReply,
		blank: txnCommitBlank, fail: txnCommitFail,
	})
	register(kmsg.EndTxn.Int16(), api{
		request: endRequest,
		reply: func(n *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
			endRequest(n, q, e)
			answered(e, p.(*kmsg.EndTxnResponse).ErrorCode)
		},
		fail: func(p kmsg.Response, code int16) { p.(*kmsg.EndTxnResponse).ErrorCode = code },
	})
}

func initRequest(_ *Names, q kmsg.Request, e *model.Event) {
	if id := q.(*kmsg.InitProducerIDRequest).TransactionalID; id != nil {
		e.TxnID = *id
	}
}

func initReply(n *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
	initRequest(n, q, e)
	resp := p.(*kmsg.InitProducerIDResponse)
	e.Producer, e.Epoch = resp.ProducerID+1, max(resp.ProducerEpoch, 0)
	answered(e, resp.ErrorCode)
}

func addPartitionsRequest(_ *Names, q kmsg.Request, e *model.Event) {
	req := q.(*kmsg.AddPartitionsToTxnRequest)
	e.TxnID, e.Producer, e.Epoch = req.TransactionalID, req.ProducerID+1, req.ProducerEpoch
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			e.Parts = append(e.Parts, model.PartOf(t.Topic, p))
		}
	}
	SortParts(e.Parts)
}

func addPartitionsReply(n *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
	addPartitionsRequest(n, q, e)
	resp := p.(*kmsg.AddPartitionsToTxnResponse)
	answered(e, resp.ErrorCode)
	for _, t := range resp.Topics {
		for _, rp := range t.Partitions {
			failPart(e, t.Topic, rp.Partition, rp.ErrorCode)
		}
	}
}

// failPart says in a reply's event what one partition was answered.
func failPart(e *model.Event, topic string, partition int32, code int16) {
	part := findPart(e.Parts, topic, partition)
	if part == nil || code == 0 {
		return
	}
	part.Err = errorName(code)
	conclude(e, code)
}

func addPartitionsBlank(q kmsg.Request, p kmsg.Response) {
	resp := p.(*kmsg.AddPartitionsToTxnResponse)
	for _, t := range q.(*kmsg.AddPartitionsToTxnRequest).Topics {
		rt := kmsg.NewAddPartitionsToTxnResponseTopic()
		rt.Topic = t.Topic
		for _, partition := range t.Partitions {
			rp := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
			rp.Partition = partition
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
}

func addPartitionsFail(p kmsg.Response, code int16) {
	resp := p.(*kmsg.AddPartitionsToTxnResponse)
	resp.ErrorCode = code
	for _, t := range resp.Topics {
		for i := range t.Partitions {
			t.Partitions[i].ErrorCode = code
		}
	}
}

func addOffsetsRequest(_ *Names, q kmsg.Request, e *model.Event) {
	req := q.(*kmsg.AddOffsetsToTxnRequest)
	e.TxnID, e.Producer, e.Epoch = req.TransactionalID, req.ProducerID+1, req.ProducerEpoch
	e.Group = req.Group
}

func txnCommitRequest(n *Names, q kmsg.Request, e *model.Event) {
	req := q.(*kmsg.TxnOffsetCommitRequest)
	e.TxnID, e.Producer, e.Epoch = req.TransactionalID, req.ProducerID+1, req.ProducerEpoch
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

// txnCommitReply repeats the offsets of the request: they count once the
// transaction commits.
func txnCommitReply(n *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
	txnCommitRequest(n, q, e)
	for _, t := range p.(*kmsg.TxnOffsetCommitResponse).Topics {
		for _, rp := range t.Partitions {
			failPart(e, n.topic(t.Topic, t.TopicID), rp.Partition, rp.ErrorCode)
		}
	}
}

func txnCommitBlank(q kmsg.Request, p kmsg.Response) {
	resp := p.(*kmsg.TxnOffsetCommitResponse)
	for _, t := range q.(*kmsg.TxnOffsetCommitRequest).Topics {
		rt := kmsg.NewTxnOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, tp := range t.Partitions {
			rp := kmsg.NewTxnOffsetCommitResponseTopicPartition()
			rp.Partition = tp.Partition
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
}

func txnCommitFail(p kmsg.Response, code int16) {
	for _, t := range p.(*kmsg.TxnOffsetCommitResponse).Topics {
		for i := range t.Partitions {
			t.Partitions[i].ErrorCode = code
		}
	}
}

// endRequest says in the note whether the transaction shall commit or abort.
func endRequest(_ *Names, q kmsg.Request, e *model.Event) {
	req := q.(*kmsg.EndTxnRequest)
	e.TxnID, e.Producer, e.Epoch = req.TransactionalID, req.ProducerID+1, req.ProducerEpoch
	e.Note = "abort"
	if req.Commit {
		e.Note = "commit"
	}
}
