package specs

import (
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/check"
)

// claim reads a claim: the rows with the smallest ids of those that are free. The claim
// of an answer that is lost holds until its connection breaks, which is with the return.
func (r *enrollmentReader) claim(e *model.Event, p int) {
	x := exchange{e, r.by[e.Seq]}
	if e.Kind == model.Return {
		changes, _ := r.rows(e)
		if changes == 0 || e.Err != "" {
			return
		}
		if heard(e) {
			r.claims[e.Note] = changes
			r.answered(e, p)
			return
		}
		r.add(e, p, unlock(changes), nil, "unlock")
		return
	}
	if x.answer == nil || x.answer.Err != "" {
		return // it claimed nothing, or for a moment that nobody knows of
	}
	changes, all := r.rows(x.answer)
	spec := r.spec
	spec.batch = bitsOf(changes)
	actions := []string{"claim nothing"}
	if changes != 0 {
		actions = []string{"claim"}
	}
	does := enrollment.claim
	if !x.heard() {
		does, actions = enrollment.claimUnheard, []string{"claim, answer lost"}
	}
	o := r.add(e, p, does, func(before, after *EnrollmentState) bool {
		got := after.Publishers[p].Claimed | after.Locked&^before.Locked
		return all && got == changes
	}, actions...)
	o.only = func(c *check.Out[EnrollmentState], s *EnrollmentState) { does(spec, c, s, p) }
}

func (r *enrollmentReader) mark(e *model.Event, p int) {
	if e.Kind == model.Return {
		r.answered(e, p)
		return
	}
	changes, all := r.rows(e)
	res := (exchange{e, r.by[e.Seq]}).result()
	actions := res.took("mark")
	if !res.heard {
		actions = append(actions, "late mark")
	}
	o := r.add(e, p, marksOf(changes), func(before, _ *EnrollmentState) bool {
		return all && (before.Publishers[p].Claimed == changes || before.Locked&changes == changes)
	}, actions...)
	if !res.heard && !(res.known && res.did) { // late, and of a claim that is over
		o.holds = func(s *EnrollmentState) bool { return s.Publishers[p].Claimed != changes }
	}
}

// release reads that a claim is given back: the one in hand, or one that its poller has
// given up before. One that is over holds nothing.
func (r *enrollmentReader) release(e *model.Event, p int) {
	changes := r.claims[e.Note]
	if e.Kind != model.Call || changes == 0 {
		return
	}
	o := r.add(e, p, releases(changes), nil, "release", "unlock")
	o.holds = func(s *EnrollmentState) bool {
		return s.Publishers[p].Claimed != changes && s.Locked&changes == 0
	}
}
