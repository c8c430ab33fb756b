package specs

import (
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// exchange is something that a history says was asked for, and the answer to it.
type exchange struct {
	ask    *model.Event
	answer *model.Event // nil: never recorded
}

// applied reports whether it took effect, and whether that is known at all. A part
// of the answer may still say otherwise.
func (x exchange) applied() (did, known bool) {
	switch {
	case x.ask.Outcome == model.NotDone:
		return false, true
	case x.answer == nil:
		return false, false
	}
	return x.answer.Err == "", true
}

// heard reports whether the process that asked got to see the answer.
func (x exchange) heard() bool {
	return x.answer != nil && x.answer.Outcome != model.Unknown
}

// result is what a history says of an ask: whether it took effect, whether that is
// known, and whether its process heard.
type result struct{ did, known, heard bool }

func (x exchange) result() result {
	did, known := x.applied()
	return result{did, known, x.heard()}
}

// took returns the actions that an ask can be: done and heard of, done with its answer
// lost, failed, or refused where that is an action of its own. What nobody answered is
// any of them.
func (r result) took(action string, refused ...string) []string {
	lost, fails := action+", answer lost", action+" fails"
	switch {
	case !r.known:
		return append(refused, lost, fails)
	case r.did && r.heard:
		return []string{action}
	case r.did:
		return append(refused[:0:0], lost)
	}
	return append(refused, fails)
}

// answers pairs every answer of a history with what it answers, by the Seq of that.
func answers(h *model.History) []*model.Event {
	events := h.Events()
	by := make([]*model.Event, len(events)+1)
	for i := range events {
		if of := events[i].Of; of > 0 && of < int64(len(by)) {
			by[of] = &events[i]
		}
	}
	return by
}

// eventText returns an event as a line of a history, shortened.
func eventText(e *model.Event) string {
	const most = 160
	text := string(model.AppendText(nil, e))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
