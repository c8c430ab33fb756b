package tap

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

func init() {
	register(kmsg.InitProducerID.Int16(), api{
		request: func(_ *Names, q kmsg.Request, e *model.Event) {
			if id := q.(*kmsg.InitProducerIDRequest).TransactionalID; id != nil {
				e.TxnID = *id
			}
		},
		reply: func(_ *Names, q kmsg.Request, p kmsg.Response, e *model.Event) {
			if id := q.(*kmsg.InitProducerIDRequest).TransactionalID; id != nil {
				e.TxnID = *id
			}
			resp := p.(*kmsg.InitProducerIDResponse)
			e.Producer, e.Epoch = resp.ProducerID+1, max(resp.ProducerEpoch, 0)
			answered(e, resp.ErrorCode)
		},
		fail: func(p kmsg.Response, code int16) {
			resp := p.(*kmsg.InitProducerIDResponse)
			resp.ErrorCode, resp.ProducerID, resp.ProducerEpoch = code, -1, -1
		},
	})
}
