package props_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
)

// script writes a history line by line.
type script struct {
	text         strings.Builder
	seq, end     int // the last event, and the end of the output
	epoch        int
	input, wrote strings.Builder // the two logs, as the audit finds them
}

func (s *script) line(format string, args ...any) {
	s.seq++
	fmt.Fprintf(&s.text, "%d %ds "+format+"\n", append([]any{s.seq, s.seq / 10}, args...)...)
}

// ask writes a request and the answer that names it.
func (s *script) ask(op, request, reply string) {
	s.line("v/0 life 1 request %s %d %s", op, s.epoch+1, request)
	s.line("v/0 life 1 reply %s %d done of=%d %s", op, s.epoch+1, s.seq, reply)
}

// transaction carries two input records over, of which each sixth is rejected.
func (s *script) transaction(first int, commit bool) {
	who := fmt.Sprintf("producer=1 epoch=%d txn=x", s.epoch)
	s.line("v/0 life 1 reply Fetch %d done [%s/0 end=%d stable=%d]",
		s.epoch+1, in, first+2, first+2)
	note, kind := "commit", ""
	if !commit {
		note, kind = "abort", "aborted "
	}
	var request, reply, seen []string
	for i := first; i < first+2; i++ {
		if i%6 == 5 {
			continue
		}
		what := fmt.Sprintf("id=ev-%d from=%s/0@%d", i, in, i)
		request = append(request, "{"+what+"}")
		reply = append(reply, fmt.Sprintf("{@%d %s}", s.end, what))
		seen = append(seen, fmt.Sprintf("{@%d %s}", s.end, what))
		fmt.Fprintf(&s.wrote, " {@%d %s%s producer=1}", s.end, kind, what)
		s.end++
	}
	s.ask("Produce", fmt.Sprintf("%s [%s/0 seq=0 %s]", who, out, strings.Join(request, " ")),
		fmt.Sprintf("%s [%s/0 %s]", who, out, strings.Join(reply, " ")))
	offsets := strings.Replace(who, " txn", " group=g txn", 1) +
		fmt.Sprintf(" [%s/0 @%d]", in, first+2)
	s.ask("TxnOffsetCommit", offsets, offsets)
	s.ask("EndTxn", who+" note="+note, who+" note="+note)
	for _, record := range seen {
		if commit {
			s.line("reader/0 life 1 note seen [%s/0 %s]", out, record)
		}
	}
	fmt.Fprintf(&s.wrote, " {@%d %s producer=1}", s.end, note)
	s.end++
	s.epoch++
}

// transacted is a history of about a thousand events: records are carried over in
// transactions, each fourth is aborted and done again, all are seen and audited.
func transacted(tb testing.TB) *model.History {
	const n = 180
	var s script
	s.ask("InitProducerID", "txn=x", "producer=1 epoch=0 txn=x")
	for i := range n {
		class := ""
		if i%6 == 5 {
			class = " class=bad"
		}
		fmt.Fprintf(&s.input, " {@%d id=ev-%d%s}", i, i, class)
		if i%2 == 0 {
			if i%8 == 6 {
				s.transaction(i, false)
			}
			s.transaction(i, true)
		}
	}
	s.line("- observe log [%s/0 @0 end=%d stable=%d%s]", in, n, n, s.input.String())
	s.line("- observe log [%s/0 @0 end=%d stable=%d%s]", out, s.end, s.end, s.wrote.String())
	s.line("- observe commit group=g [%s/0 @%d]", in, n)
	return parse(tb, s.text.String())
}

func transactedPromises() []props.Property {
	return []props.Property{
		props.ExactlyOnce(in, out, "g"), props.NoAbortedVisible(out),
		props.SeenOnce(out, "reader"), props.OrderPerPartition(in, out),
		props.OffsetsOnlyInTransactions("g"), props.OffsetArithmetic(in, out, "g"),
		props.FencedStops(), props.OneOwner(), props.LSOProgress(out, 10*time.Second),
		props.NoExternalCallInTransaction(), props.EpochsBounded(1, time.Minute),
	}
}

func TestTransactedHolds(t *testing.T) {
	h := transacted(t)
	if got := props.Judge(h, transactedPromises()); len(got) > 0 {
		t.Error(got)
	}
	if !props.SometimesAborted(out).Seen(h) {
		t.Error("no transaction was aborted")
	}
}

// BenchmarkTransacted says which promise about transactions costs what.
func BenchmarkTransacted(b *testing.B) {
	h := transacted(b)
	for _, p := range transactedPromises() {
		b.Run(p.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Check(h)
			}
		})
	}
}
