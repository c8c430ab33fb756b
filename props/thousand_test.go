package props_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
)

// thousand is a history of about a thousand events: records are sent, landed one
// by one and committed, and audited.
func thousand(tb testing.TB) *model.History {
	var b strings.Builder
	seq := 0
	event := func(format string, args ...any) {
		seq++
		fmt.Fprintf(&b, "%d 1s "+format+"\n", append([]any{seq}, args...)...)
	}
	const n = 90
	var log, dead strings.Builder
	for i := range n {
		event(`player/0 life 1 note ask [""/-1 {id=ev-%d}]`, i)
		event("player/0 life 1 note send [%s/-1 {id=ev-%d}]", in, i)
		event("player/0 life 1 reply Produce %d done [%s/0 @%d {@%d id=ev-%d}]", i+1, in, i, i, i)
		event("player/0 life 1 note ack done [%s/0 {@%d id=ev-%d}]", in, i, i)
		event(`player/0 life 1 note answer done [""/-1 {id=ev-%d}]`, i)
		fmt.Fprintf(&log, " {@%d id=ev-%d}", i, i)
		if i%10 == 0 {
			event("landing/0 life 1 reply Produce %d done [%s/0 @%d {@%d id=x from=%s/0@%d}]",
				i+1, dlq, i/10, i/10, in, i)
			fmt.Fprintf(&dead, " {@%d id=x from=%s/0@%d}", i/10, in, i)
		} else {
			event("landing/0 life 1 call put %d key=%s/%d digest=d [%s/0 {@%d id=ev-%d}]",
				i+1, in, i, in, i, i)
			event("landing/0 life 1 return put %d done key=%s/%d digest=d [%s/0 {@%d id=ev-%d}]",
				i+1, in, i, in, i, i)
		}
		event("landing/0 life 1 request OffsetCommit %d group=landing [%s/0 @%d]", i+1, in, i+1)
		event("landing/0 life 1 reply OffsetCommit %d done group=landing [%s/0 @%d]", i+1, in, i+1)
		event("landing/0 life 1 request Fetch %d [%s/0 @%d]", i+1, in, i+1)
		event("landing/0 life 1 reply Fetch %d done [%s/0 @%d end=%d]", i+1, in, i+1, i+1)
	}
	event("player/0 life 1 exit - done")
	event("- observe log [%s/0 @0 end=%d%s]", in, n, log.String())
	event("- observe log [%s/0 @0 end=%d%s]", dlq, n/10, dead.String())
	event("- observe commit group=landing [%s/0 @%d]", in, n)
	for i := range n {
		if i%10 != 0 {
			event("- observe object key=%s/%d digest=d [%s/0 {@%d id=ev-%d}]", in, i, in, i, i)
		}
	}
	return parse(tb, b.String())
}

func thousandPromises() []props.Property {
	return []props.Property{
		props.AckedIsStored(in), props.NoUnaskedAppend(in), props.AckedOffsetsUnique(in),
		props.Identity(in), props.NoLoss(in, landing, dlq), props.OneObjectPerOffset(in),
		props.RerunSameBytes(in + "/"), props.CommitWithinResolved(in, landing, dlq),
		props.CommitMonotonic(landing), props.ResendVisible(in, landing, dlq),
		props.Drains(in, landing), props.AllAnswered(), props.NoSilentDrop(),
	}
}

func TestThousandHolds(t *testing.T) {
	if got := props.Judge(thousand(t), thousandPromises()); len(got) > 0 {
		t.Error(got)
	}
}

func BenchmarkJudge(b *testing.B) {
	h, all := thousand(b), thousandPromises()
	b.ReportAllocs()
	for b.Loop() {
		props.Judge(h, all)
	}
	b.ReportMetric(float64(h.Len()), "events")
}

// BenchmarkPromise says which promise costs what.
func BenchmarkPromise(b *testing.B) {
	h := thousand(b)
	for _, p := range thousandPromises() {
		b.Run(p.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Check(h)
			}
		})
	}
}
