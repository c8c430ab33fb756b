package specs

import "github.com/hopcheck/hopcheck/model/check"

// Mistakes that validated can be given.
const (
	noGeneration    = "no-generation-check"
	sharedID        = "shared-id"
	sideBefore      = "side-commit-before"
	sideAfter       = "side-commit-after"
	noRequireStable = "no-require-stable"
	replay          = "replay-from-memory"
	readUncommitted = "read-uncommitted"
	lateAppended    = "hanging-transaction"
)

// beside is a commit of offsets without the transaction: before its end, or when the
// answer to its end has come.
func (d *validated) beside(c *check.Out[ValidatedState], s *ValidatedState, m int) {
	me := &s.Members[m]
	owner := int(s.Owner) == m+1
	switch {
	case d.bug == sideAfter && me.Stage == working:
		c.Do("no offsets", m).Members[m].Stage = offered
	case !owner:
		you := &c.Do("offsets refused", m).Members[m]
		you.Stage, you.Waits = failed, forNobody
	case d.bug == sideAfter:
		n := c.Do("commit beside", m)
		you := &n.Members[m]
		n.Commit = you.Next
		you.Stage, you.Waits, you.From, you.Sent = ready, forNobody, you.Next, you.Next
	default:
		n := c.Do("commit beside", m)
		n.Commit, n.Members[m].Stage = me.Next, offered
	}
}
