package props_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

// TestResolvedAgainstPlain compares the single pass with the promise as it is said,
// on random histories without overlap: at each commit, look at every record.
func TestResolvedAgainstPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := props.CommitWithinResolved("t", "g", "d")
	const rounds = 300
	broken := 0
	for round := range rounds {
		text, want := randomCommits(rng)
		got := len(p.Check(parse(t, text)))
		if got > 0 != want {
			t.Fatalf("round %d: %d broken, wanted some: %v\n%s", round, got, want, text)
		}
		if want {
			broken++
		}
	}
	if broken < rounds/10 || broken > rounds*9/10 {
		t.Errorf("%d of %d histories are broken: too few of one sort to compare", broken, rounds)
	}
}

// randomCommits returns a history and whether a commit passes a record that is not
// resolved.
func randomCommits(rng *rand.Rand) (text string, broken bool) {
	const offsets = 6
	var b strings.Builder
	seq := 0
	event := func(format string, args ...any) {
		seq++
		fmt.Fprintf(&b, "%d 1s "+format+"\n", append([]any{seq}, args...)...)
	}
	kinds := [offsets]string{}
	records := ""
	for i := range kinds {
		kinds[i] = []string{"", "", "", "commit", "none"}[rng.IntN(5)]
		if kinds[i] == "none" {
			continue
		}
		records += fmt.Sprintf(" {@%d %s id=ev-%d}", i, kinds[i], i)
	}
	var resolved [offsets]bool
	for range 12 {
		o := rng.IntN(offsets)
		switch rng.IntN(4) {
		case 0:
			event("l/0 life 1 return put %d done key=k [t/0 {@%d id=ev-%d}]", seq, o, o)
			resolved[o] = true
		case 1:
			event("l/0 life 1 reply Produce %d done [d/0 @0 {@0 id=x from=t/0@%d}]", seq, o)
			resolved[o] = true
		case 2:
			event("l/0 life 1 return put %d not-done err=SlowDown [t/0 {@%d id=x}]", seq, o)
		case 3:
			limit := rng.IntN(offsets + 1)
			event("l/0 life 1 reply OffsetCommit %d done group=g [t/0 @%d]", seq, limit)
			for i := range limit {
				broken = broken || kinds[i] == "" && !resolved[i]
			}
		}
	}
	event("- observe log [t/0 @0 end=%d%s]", offsets, records)
	return b.String(), broken
}
