package props

import (
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// SometimesResend wants an id that has two copies in the audited log of the topic.
func SometimesResend(topic string) Sometimes {
	return Sometimes{
		Name: "resend/" + topic,
		Says: "An id has two copies in the log of " + topic + ".",
		Seen: func(h *model.History) bool {
			seen := make(map[string]bool)
			for _, log := range openLedger(h).logs(topic) {
				for i := range log.records {
					r := &log.records[i]
					if r.Kind != model.Data || r.ID == "" {
						continue
					}
					if seen[r.ID] {
						return true
					}
					seen[r.ID] = true
				}
			}
			return false
		},
	}
}

// SometimesRebalance wants a member of the group that a broker gave a later
// generation, or member epoch, than the first one that it gave to any.
func SometimesRebalance(group string) Sometimes {
	return Sometimes{
		Name: "rebalance/" + group,
		Says: "A member of " + group + " got a later generation than the first.",
		Seen: func(h *model.History) bool {
			first := int32(0)
			return anyEvent(h, func(e *model.Event) bool {
				if e.Kind != model.Reply || e.Group != group || e.Err != "" || e.Generation <= 0 ||
					e.Op != "JoinGroup" && e.Op != "ConsumerGroupHeartbeat" {
					return false
				}
				if first == 0 {
					first = e.Generation
				}
				return e.Generation > first
			})
		},
	}
}

// SometimesCrash wants a life that was killed.
func SometimesCrash() Sometimes {
	return Sometimes{
		Name: "crash/any",
		Says: "A process was killed.",
		Seen: func(h *model.History) bool {
			return anyEvent(h, func(e *model.Event) bool { return e.Kind == model.Crash })
		},
	}
}

// SometimesPaused wants a process that stood still.
func SometimesPaused() Sometimes {
	return Sometimes{
		Name: "paused/any",
		Says: "A process was paused.",
		Seen: func(h *model.History) bool {
			return anyEvent(h, func(e *model.Event) bool { return e.Kind == model.Pause })
		},
	}
}

// SometimesLostReply wants an answer that was lost although it says that all was
// done, by a fault or because who waited for it died.
func SometimesLostReply() Sometimes {
	return Sometimes{
		Name: "lost-reply/any",
		Says: "The answer to something that was done got lost.",
		Seen: func(h *model.History) bool {
			return anyEvent(h, func(e *model.Event) bool {
				answer := e.Kind == model.Reply || e.Kind == model.Return
				return answer && e.Outcome == model.Unknown && e.Err == "" &&
					!slices.ContainsFunc(e.Parts, func(p model.Part) bool { return p.Err != "" })
			})
		},
	}
}

// SometimesRejected wants a record that was appended to the dead-letter topic, as
// a Produce reply says or the audit found.
func SometimesRejected(dlq string) Sometimes {
	return Sometimes{
		Name: "rejected/" + dlq,
		Says: "A record was appended to " + dlq + ".",
		Seen: func(h *model.History) bool {
			for range appends(h, dlq) {
				return true
			}
			for _, log := range openLedger(h).logs(dlq) {
				for i := range log.records {
					if log.records[i].Kind == model.Data {
						return true
					}
				}
			}
			return false
		},
	}
}

func anyEvent(h *model.History, is func(*model.Event) bool) bool {
	events := h.Events()
	for i := range events {
		if is(&events[i]) {
			return true
		}
	}
	return false
}
