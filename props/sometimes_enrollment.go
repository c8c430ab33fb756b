package props

import (
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// SometimesInterleaved wants two transactions that committed in another order than that
// of the ids that they drew for their outbox rows.
func SometimesInterleaved() Sometimes {
	return Sometimes{
		Name: "interleaved/outbox",
		Says: "Rows of the outbox became visible in another order than that of their ids.",
		Seen: func(h *model.History) bool {
			greatest := int64(-1)
			for _, s := range steps(h, model.Call, model.Return, "commit") {
				for i := range s.answer.Parts {
					p := &s.answer.Parts[i]
					for j := range p.Records {
						if p.Topic != outboxTable {
							continue
						}
						if p.Records[j].Offset < greatest {
							return true
						}
						greatest = max(greatest, p.Records[j].Offset)
					}
				}
			}
			return false
		},
	}
}

// SometimesServerCrash wants a crash of the database's server.
func SometimesServerCrash() Sometimes {
	return Sometimes{
		Name: "server-crash/database",
		Says: "The database's server crashed and recovered.",
		Seen: func(h *model.History) bool {
			return anyEvent(h, func(e *model.Event) bool {
				return e.Kind == model.Fault && strings.HasPrefix(e.Note, "database ")
			})
		},
	}
}
