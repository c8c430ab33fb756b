package schedule

import (
	"slices"
	"strings"
)

// Shrink returns a schedule's faults made as few and as simple as they get while
// stillFails holds. It is deterministic: no clock and no random choice, so the
// same input gives the same result on any machine, which a time budget would not.
//
// It removes first: all faults, halves, quarters, down to single ones, and singles
// until no single one can go. Then it replaces each fault by the first of its
// Simpler ones that still fails, until none does. What is simpler may make another
// fault superfluous, so both are repeated until nothing changes. If the budget was
// enough, the result fails no more when any one fault is removed or replaced.
//
// The budget is the greatest number of calls of stillFails; no list is asked
// twice. That s itself fails is taken for granted and costs no call. stillFails
// gets a slice of its own each time, may keep it, and must be deterministic. s is
// not changed.
func Shrink(s []Fault, stillFails func([]Fault) bool, budget int) []Fault {
	sh := shrinker{best: slices.Clone(s), fails: stillFails, left: budget,
		asked: map[string]bool{text(s): true}}
	for again := true; again && sh.left > 0; {
		sh.remove()
		again = sh.replace()
	}
	return sh.best
}

type shrinker struct {
	best  []Fault
	fails func([]Fault) bool
	left  int             // calls of fails that may still be made
	asked map[string]bool // lists that were tried, by their text
}

// try makes candidate the best if it still fails.
func (sh *shrinker) try(candidate []Fault) bool {
	key := text(candidate)
	if sh.left <= 0 || sh.asked[key] {
		return false
	}
	sh.asked[key] = true
	sh.left--
	if !sh.fails(slices.Clone(candidate)) {
		return false
	}
	sh.best = candidate
	return true
}

// remove takes away runs of faults, long ones first, until no single one can go.
func (sh *shrinker) remove() {
	for size := len(sh.best); size > 1; size /= 2 {
		sh.pass(size)
	}
	for again := true; again; {
		again = sh.pass(1)
	}
}

// pass tries to remove each run of size faults once.
func (sh *shrinker) pass(size int) (removed bool) {
	for at := 0; at+size <= len(sh.best); {
		if sh.try(slices.Delete(slices.Clone(sh.best), at, at+size)) {
			removed = true // what followed stands at the same index now
		} else {
			at += size
		}
	}
	return removed
}

// replace puts simpler faults in the place of others until none still fails.
func (sh *shrinker) replace() (replaced bool) {
	for again := true; again; {
		again = false
		for i := range sh.best {
			for sh.simplify(i) {
				again, replaced = true, true
			}
		}
	}
	return replaced
}

// simplify tries the simpler faults of the i-th, those at a point that another
// fault already has left out.
func (sh *shrinker) simplify(i int) bool {
	for _, f := range sh.best[i].Simpler() {
		candidate := slices.Clone(sh.best)
		candidate[i] = f
		if !sh.occupied(i, f.At()) && sh.try(candidate) {
			return true
		}
	}
	return false
}

func (sh *shrinker) occupied(i int, p Point) bool {
	for j, f := range sh.best {
		if j != i && f.At() == p {
			return true
		}
	}
	return false
}

// text is a key for a list of faults.
func text(faults []Fault) string {
	var b strings.Builder
	for _, f := range faults {
		b.WriteString(f.String())
		b.WriteByte('\n')
	}
	return b.String()
}
