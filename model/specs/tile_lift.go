package specs

import (
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model/check"
)

// tileCalls are the store calls that the steps of a run are. Entries of logs are put
// where nothing is, parts are put under names that nobody else has.
var tileCalls = map[string]string{
	"list commits": "list", "list sink log": "list", "list offsets": "list",
	"plan": "putif", "plan refused": "putif", "log": "putif", "log refused": "putif",
	"commit": "putif", "commit refused": "putif",
	"store parts": "put", "remove": "delete",
}

// liftTile turns a counterexample into faults of a world. The accident is a world's own:
// no schedule has it.
func liftTile(bug string, trace []check.Step[TileState]) lifted {
	l := newLifting()
	for i := 1; i < len(trace); i++ {
		if step := &trace[i]; step.Who != check.Nobody {
			liftTileStep(l, bug, step.Action, "tile/"+strconv.Itoa(step.Who))
		}
	}
	return l.finish()
}

func liftTileStep(l *lifting, bug, action, who string) {
	switch action {
	case "crash":
		l.crash(who)
		return
	case "crash, put under way":
		l.slow(who, "call", "putif")
		l.event(who, "call", "putif")
		l.crash(who)
		return
	}
	action, lost := strings.CutSuffix(action, ", answer lost")
	action, fails := strings.CutSuffix(action, " fails")
	op := tileCalls[action]
	if op == "putif" && bug == putOver {
		op = "put"
	}
	switch {
	case op == "":
	case lost:
		l.event(who, "call", op)
		l.lose(who, "return", op)
	case fails:
		l.refuse(who, "call", op, "unavailable")
	default:
		l.event(who, "call", op)
		l.event(who, "return", op)
	}
}
