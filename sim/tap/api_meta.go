package tap

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

func init() {
	register(kmsg.Metadata.Int16(), api{reply: metadataReply})
	register(kmsg.ApiVersions.Int16(), api{
		reply: func(_ *Names, _ kmsg.Request, p kmsg.Response, e *model.Event) {
			answered(e, p.(*kmsg.ApiVersionsResponse).ErrorCode)
		},
	})
}

// metadataReply learns the names of topic ids, which Fetch, Produce and KIP-848
// heartbeats use instead of names.
func metadataReply(n *Names, _ kmsg.Request, p kmsg.Response, _ *model.Event) {
	for _, t := range p.(*kmsg.MetadataResponse).Topics {
		if t.Topic != nil {
			n.Topic(t.TopicID, *t.Topic)
		}
	}
}
