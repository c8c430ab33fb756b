package props_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
)

const (
	in      = "learning.progress"
	dlq     = "learning.progress.dlq"
	landing = "landing"

	out       = "learning.progress.validated"
	validated = "validated"

	tile = "tile"

	enrolled = "learning.enrollment"
	cohort   = "cohort"
)

// every is each promise as a world would make it, with what its own breaking
// history must give.
var every = []struct {
	props.Property
	want []props.Broken
}{
	{props.AckedIsStored(in), []props.Broken{
		{
			Witness: "id ev-1 was acked at learning.progress/0@0, where the log holds id ev-2",
			Seqs:    []int64{3, 5},
		},
		{
			Witness: "id ev-1 was answered done, and no copy of it is in learning.progress",
			Seqs:    []int64{4, 5},
		},
	}},
	{props.NoUnaskedAppend(in), one(
		"learning.progress/0@1 is copy 2 of id ev-1, which was sent once", 1, 2)},
	{props.NotDoneIsSo(in), one(
		"id ev-1 was said to be not done, and stands at learning.progress/0@0", 3, 4)},
	{props.AckedOffsetsUnique(in), one(
		"learning.progress/0@0 was acked for id ev-1 and again for id ev-1", 3, 4)},
	{props.Identity(in), one(
		`learning.progress/0@1 has id "ev-1-again", which no application asked for`, 2)},
	{props.NoLoss(in, landing, dlq), one("learning.progress/0@1 (id ev-2) is in neither object "+
		"nor dead letter, and landing committed 2; object a says reject there", 1, 2)},
	{props.NoLoss(in, landing, ""), one("learning.progress/0@1 (id ev-2) is in neither object "+
		"nor dead letter, and landing committed 2; object a says reject there", 1, 2)},
	{props.OneObjectPerOffset(in), one(
		"learning.progress/0@0 stands in objects a and b", 2, 3)},
	{props.RerunSameBytes(in + "/"), one("landing/0 put other bytes under learning.progress/a: "+
		"lines 1 over 2, digest d2 over d1", 1, 2)},
	{props.CommitWithinResolved(in, landing, dlq), one("landing/0 committed learning.progress/0@1 "+
		"when learning.progress/0@0 (id ev-1) was in no object and no dead letter", 2, 3)},
	{props.CommitWithinResolved(in, landing, ""), one("landing/0 committed learning.progress/0@1 "+
		"when learning.progress/0@0 (id ev-1) was in no object and no dead letter", 2, 3)},
	{props.CommitMonotonic(landing), one(
		"landing/1 committed t/0@4 after 5 had been committed", 2, 3, 4)},
	{props.ResendVisible(in, landing, dlq), one("id ev-1 has 2 copies in the log and 1 in objects "+
		"and dead letters: learning.progress/0@1 is missing", 1, 2)},
	{props.ResendVisible(in, landing, ""), one("id ev-1 has 2 copies in the log and 1 in objects "+
		"and dead letters: learning.progress/0@1 is missing", 1, 2)},
	{props.Drains(in, landing), one(
		"the last record of learning.progress/0 is at 1, and landing has committed 1", 1, 2)},
	{props.AllAnswered(), one("id ev-1 was asked for and never answered done", 1)},
	{props.NoSilentDrop(), one(
		"player/0 life 1 sent id ev-1 and exited before the promise was resolved", 3, 4)},
	{props.ExactlyOnce(in, out, validated), []props.Broken{
		{
			Witness: "learning.progress/0@0 (id ev-1) has 2 committed records: " +
				"learning.progress.validated/0@0, learning.progress.validated/0@1",
			Seqs: []int64{1, 2},
		},
		{
			Witness: "learning.progress/0@2 (id ev-2) has no committed record in " +
				"learning.progress.validated, and validated committed 3",
			Seqs: []int64{1, 4},
		},
		{
			Witness: "learning.progress/0@3 (id ev-3) is in the output at " +
				"learning.progress.validated/1@0, ahead of validated, which has committed 3",
			Seqs: []int64{3, 4},
		},
	}},
	{props.NoAbortedVisible(out), one("reader/0 life 1 saw learning.progress.validated/0@0, "+
		"which is id ev-1 of an aborted transaction", 1, 3)},
	{props.SeenOnce(out, "reader"), one("in/0@5 (id ev-1) was seen at "+
		"learning.progress.validated/0@0 by reader/0 and at "+
		"learning.progress.validated/1@0 by reader/0", 1, 2)},
	{props.OrderPerPartition(in, out), one("learning.progress.validated/0@1 comes from "+
		"learning.progress/0@3, after learning.progress.validated/0@0 from "+
		"learning.progress/0@4", 1)},
	{props.OffsetsOnlyInTransactions(validated), one(
		"validated/0 life 1 committed in/0@4 without a transaction", 1, 2)},
	{props.OffsetArithmetic(in, out, validated), one("validated/0 life 1, transaction of v-0, "+
		"epoch 0: it commits learning.progress/0@1 as next, and holds output of "+
		"learning.progress/0@1", 2, 3, 4)},
	{props.FencedStops(), one("validated/0 life 1 asked for a producer id of v-0 after EndTxn "+
		"had been answered PRODUCER_FENCED", 1, 2)},
	{props.OneOwner(), one("validated/0 life 1 committed a transaction of v-0 as producer 1 "+
		"epoch 0 after validated/1 life 1 had been given producer 1 epoch 1", 4, 5, 6)},
	{props.LSOProgress(out, time.Minute), one("the last stable offset of "+
		"learning.progress.validated/0 stood at 0 for 1m1s, below the end at 2", 1, 2)},
	{props.NoExternalCallInTransaction(), one(
		`validated/0 life 1 called put of "a" in a transaction of v-0`, 1, 2)},
	{props.EpochsBounded(2, time.Minute), one("v-0 was given 3 epochs within 0s, "+
		"from epoch 0 of validated/0 life 1 to epoch 2 of validated/0 life 2", 1, 3)},
	{props.TileExact(in, tile), []props.Broken{
		{
			Witness: "batch 0: tile/part-a.parquet and 1 more count 4 events of " +
				`"2026-01-05T09:00:00Z go", and its ranges learning.progress/0 [0, 2) have 2`,
			Seqs: []int64{1, 2, 3, 4, 5},
		},
		{
			Witness: "in the end 2 files in the sink log count 4 events of " +
				`"2026-01-05T09:00:00Z go", and the ranges of batches up to 0 have 2: ` +
				"learning.progress/0 [0, 2)",
			Seqs: []int64{5, 6},
		},
	}},
	{props.RangesTouch(in, tile), one("batch 0 ends at learning.progress/0@5 and batch 1 begins "+
		"at 7: [5, 7) is in none", 1, 3)},
	{props.BatchWrittenOnce(tile), []props.Broken{
		{
			Witness: "tile/0 life 2 wrote another plan of batch 0: t/0 [0, 7) over t/0 [0, 5)",
			Seqs:    []int64{1, 2},
		},
		{
			Witness: "batch 0 was written to the sink log again: tile/_spark_metadata/0 by " +
				"tile/1 life 1, after tile/_spark_metadata/0 by tile/0 life 2",
			Seqs: []int64{3, 4},
		},
	}},
	{props.CompactSafe(tile), []props.Broken{
		{
			Witness: "tile/0 life 1 deleted tile/_spark_metadata/0 when no compact file stood " +
				"for batch 0",
			Seqs: []int64{1, 2},
		},
		{
			Witness: "reader/0 could not read the tile: batch 0 is missing below batch 1",
			Seqs:    []int64{3},
		},
	}},
	{props.ListedOrGarbage(tile), one(`last-reader/0 read 4 events of "2026-01-05T09:00:00Z go", `+
		"and the files that the sink log names up to batch 0 have 2", 4, 6, 7)},
	{props.OneWinner(tile), []props.Broken{
		{
			Witness: "tile/1 life 1 wrote tile/_spark_metadata/0 after tile/checkpoint/offsets/0 " +
				"had been refused, where tile/0 life 1 had written other content",
			Seqs: []int64{1, 2, 4},
		},
		{
			Witness: "batch 0 was won by tile/0 life 1 and by tile/1 life 1",
			Seqs:    []int64{3, 4},
		},
	}},
	{props.CourseDay(in, landing), one(`course_day/0 counts 2 distinct ids of "go 2026-01-05"; `+
		"accepted below the offsets of landing: 1", 1, 2, 3)},
	{props.PublishedOrPending(enrolled, props.FromOutbox), one("change A/1 of ada/go "+
		"(enrolled) is not in learning.enrollment, and its row is marked as published", 1, 2)},
	{props.PublishedOrPending(enrolled, props.FromLog), one("change B/1 of ada/go "+
		"(enrolled) is not in learning.enrollment, and the slot is confirmed up to C/0",
		1, 2, 3)},
	{props.OrderPerKey(enrolled, props.FromOutbox), one("learning.enrollment/0@1 (A/1 of "+
		"ada/go, enrolled) comes after learning.enrollment/0@0 (C/1, dropped), which "+
		"committed later", 1, 2, 3)},
	{props.OrderPerKey(enrolled, props.FromLog), one("learning.enrollment/0@1 (B/1 of "+
		"ada/go, enrolled) comes after learning.enrollment/0@0 (D/1, dropped), which "+
		"committed later", 1, 2, 3)},
	{props.ConfirmWithinAcked(enrolled), one("publisher/0 life 1 confirmed C/0 when change "+
		"B/1 of ada/go (enrolled) was not in learning.enrollment", 1, 2, 3)},
	{props.MarkWithinAcked(enrolled), one("poller/0 life 1 marked row 1 (A/1 of ada/go) "+
		"when it was not in learning.enrollment", 1, 2)},
	{props.FoldEqualsDatabase(enrolled, cohort, props.FromOutbox), one("ada/go is "+
		"enrolled by the fold, and dropped by the last published commit", 1, 3, 4)},
	{props.FoldEqualsDatabase(enrolled, cohort, props.FromLog), one("ada/go is "+
		"enrolled by the fold, and dropped by the last published commit", 2, 4, 5)},
	{props.EqualLSNNoOp(enrolled, cohort), one("cohort/0 counts 2 seats in go, and the "+
		"changes below offset 2 of learning.enrollment/0 make 1", 1, 2)},
	{props.SeatCounts(enrolled, cohort, props.FromOutbox), one("go has 2 seats by the "+
		"fold, and 1 enrolled in the database", 1, 2)},
	{props.SeatCounts(enrolled, cohort, props.FromLog), one("go has 0 seats by the "+
		"fold, and 1 enrolled in the database", 2, 3)},
	{props.SlotAlert(1<<20, 15*time.Minute), one("the slot (reserved) held back 1048577 "+
		"bytes at 1s, and nobody was called within 15m0s", 1, 2)},
}

func one(witness string, seqs ...int64) []props.Broken {
	return []props.Broken{{Witness: witness, Seqs: seqs}}
}

func parse(t testing.TB, text string) *model.History {
	t.Helper()
	h, err := model.Read(strings.NewReader(strings.TrimLeft(text, "\n")))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return h
}

func TestOwnHistories(t *testing.T) {
	for _, p := range every {
		t.Run(p.Name, func(t *testing.T) {
			if got := p.Check(parse(t, p.Holds)); len(got) > 0 {
				t.Errorf("the history that holds breaks it: %v", got)
			}
			for i := range p.want {
				p.want[i].Promise = p.Name
			}
			got := props.Judge(parse(t, p.Breaks), []props.Property{p.Property})
			if diff := cmp.Diff(p.want, got); diff != "" {
				t.Errorf("breaking history (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNames has names that the text form must quote: they end up in the histories.
func TestNames(t *testing.T) {
	for _, p := range []props.Property{
		props.NoLoss("t", `a "group" of two`, "dead letters"),
		props.CommitMonotonic("-"),
		props.RerunSameBytes("a folder/"),
		props.RerunSameBytes(""),
	} {
		if got := p.Check(parse(t, p.Holds)); len(got) > 0 {
			t.Errorf("%s: the history that holds breaks it: %v", p.Name, got)
		}
		if got := p.Check(parse(t, p.Breaks)); len(got) == 0 {
			t.Errorf("%s: the history that breaks holds", p.Name)
		}
	}
}

func TestSentences(t *testing.T) {
	for _, p := range every {
		if promise, what, ok := strings.Cut(p.Name, "/"); !ok || promise == "" || what == "" {
			t.Errorf("name %q is not <promise>/<what>", p.Name)
		}
		if !strings.HasSuffix(p.Says, ".") || strings.Contains(p.Says, "\n") {
			t.Errorf("%s: %q is not one sentence on one line", p.Name, p.Says)
		}
	}
}

// TestNothing: a run that did nothing, and one of which there is no audit, break
// no promise that rests on an audit.
func TestNothing(t *testing.T) {
	unaudited := parse(t, `
1 1s player/0 life 1 note send [learning.progress/-1 {id=ev-1}]
2 2s player/0 life 1 note ack done [learning.progress/0 {@0 id=ev-1}]
3 3s player/0 life 1 note answer done [""/-1 {id=ev-1}]
`)
	for _, h := range []*model.History{new(model.History), unaudited} {
		for _, p := range every {
			if got := p.Check(h); len(got) > 0 {
				t.Errorf("%s on %d events: %v", p.Name, h.Len(), got)
			}
		}
	}
}

// TestUnchanged: judging must not change the history, whose slices it shares.
func TestUnchanged(t *testing.T) {
	for _, p := range every {
		h := parse(t, p.Breaks)
		var before, after strings.Builder
		if err := h.WriteText(&before); err != nil {
			t.Fatal(err)
		}
		for _, q := range every {
			q.Check(h)
		}
		if err := h.WriteText(&after); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before.String(), after.String()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", p.Name, diff)
		}
	}
}
