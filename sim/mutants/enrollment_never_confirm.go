package mutants

import (
	"context"

	"github.com/hopcheck/hopcheck/sim"
)

func init() {
	w := withProcess(enrollmentLog(), "publisher", neverConfirm().run)
	register(Mutant{
		Name: "never-confirm", Case: "S34",
		Says: "changes are published and never confirmed: the slot holds the log back until " +
			"the disk is full",
		World:  w,
		Breaks: drains(w),
	})
}

// drains is the name of what every world promises.
func drains(w sim.World) string { return "drains/" + w.Name }

// neverConfirm leaves that to somebody else.
func neverConfirm() *streamJob {
	j := newStreamJob()
	j.full = func(l *streamLife, _ context.Context) error { return l.flush() }
	j.keepalive = func(l *streamLife, _ context.Context, _ string) error { return l.flush() }
	return j
}
