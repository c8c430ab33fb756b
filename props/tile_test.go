package props_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
)

// tileKeys are short for the keys of a tile below "x".
var tileKeys = strings.NewReplacer("O/", "x/checkpoint/offsets/", "S/", "x/_spark_metadata/",
	"C/", "x/checkpoint/commits/", "P/", "x/part-")

func checkTile(t *testing.T, p props.Property, edges []edge) {
	t.Helper()
	for i := range edges {
		edges[i].history = tileKeys.Replace(edges[i].history)
		for j, want := range edges[i].want {
			edges[i].want[j] = tileKeys.Replace(want)
		}
	}
	checkEdges(t, p, edges)
}

func tilePromises(prefix string) []props.Property {
	return []props.Property{
		props.TileExact(in, prefix), props.RangesTouch(in, prefix), props.BatchWrittenOnce(prefix),
		props.CompactSafe(prefix), props.ListedOrGarbage(prefix), props.OneWinner(prefix),
	}
}

// TestTileNames has prefixes that the text form must quote, and one of some folders.
func TestTileNames(t *testing.T) {
	for _, prefix := range []string{"a folder", "lake/gold/tile"} {
		for _, p := range append(tilePromises(prefix), props.CourseDay("a topic", "a group")) {
			if got := p.Check(parse(t, p.Holds)); len(got) > 0 {
				t.Errorf("%s: the history that holds breaks it: %v", p.Name, got)
			}
			if got := p.Check(parse(t, p.Breaks)); len(got) == 0 {
				t.Errorf("%s: the history that breaks holds", p.Name)
			}
		}
	}
}

// TestTileNeighbour: another tile, and what is no log, are none of a promise's business.
func TestTileNeighbour(t *testing.T) {
	for _, p := range tilePromises("x") {
		h := strings.ReplaceAll(p.Breaks, "x/", "xy/")
		h = strings.ReplaceAll(h, " note tile-read", " note other")
		if got := p.Check(parse(t, h)); len(got) > 0 {
			t.Errorf("%s judges the tile below xy: %v", p.Name, got)
		}
	}
}

// run writes the history of a tile that goes well: of each record one batch, whose
// first answers got lost, with compaction after every ten.
type run struct {
	b   strings.Builder
	seq int
}

func (r *run) event(format string, args ...any) {
	r.seq++
	fmt.Fprintf(&r.b, "%d 1s "+format+"\n", append([]any{r.seq}, args...)...)
}

// call writes a call and its answer.
func (r *run) call(call, outcome, says string) {
	r.event("tile/0 life 1 call %s %s", call, says)
	of := r.seq
	r.event("tile/0 life 1 return %s %s of=%d %s", call, outcome, of, says)
}

// aTile returns a history of about ten events per batch. Change, if set, may replace
// what the sink log's object of a batch says.
func aTile(tb testing.TB, batches int, change func(batch int, files string) string) *model.History {
	var r run
	var log, all, objects strings.Builder
	for i := range batches {
		cell := fmt.Sprintf("2026-01-05T%02d:00:00Z go", i%7)
		part := fmt.Sprintf("x/part-%d", i)
		counts := fmt.Sprintf(`(%q 1) ("distinct %s" 1)`, cell, cell)
		fmt.Fprintf(&log, " {@%d id=ev-%d cell=%q}", i, i, cell)
		plan := fmt.Sprintf("key=O/%d digest=o%d [%s/0 @%d end=%d]", i, i, in, i, i+1)
		r.call("putif", "unknown", plan)
		r.call("putif", "not-done err=precondition", plan)
		r.call("put", "done", fmt.Sprintf("key=%s digest=p%d %s", part, i, counts))
		files := fmt.Sprintf("(%s 100)", part)
		fmt.Fprintf(&all, " %s", files)
		sink := fmt.Sprintf("x/_spark_metadata/%d", i)
		if i%10 == 9 {
			files, sink = all.String(), sink+".compact"
		}
		if change != nil {
			files = change(i, files)
		}
		r.call("putif", "done", fmt.Sprintf("key=%s digest=s%d %s", sink, i, files))
		r.call("putif", "done", fmt.Sprintf("key=C/%d digest=c", i))
		if i%10 == 9 {
			for j := max(0, i-10); j < i; j++ {
				name := fmt.Sprintf("%d", j)
				if j%10 == 9 {
					name += ".compact"
				}
				r.call("delete", "done", "key=S/"+name)
			}
		}
		if i >= batches/10*10-1 {
			fmt.Fprintf(&objects, "key=%s digest=s%d %s\n", sink, i, files)
		}
		fmt.Fprintf(&objects, "key=%s digest=p%d bytes=100 %s\n", part, i, counts)
		r.event("reader/0 life 1 note tile-read %s", cellsUpTo(i))
	}
	r.event("last-reader/0 life 1 note tile-read %s", cellsUpTo(batches-1))
	r.event("- observe log [%s/0 @0 end=%d%s]", in, batches, log.String())
	for says := range strings.Lines(objects.String()) {
		r.event("- observe object %s", strings.TrimSpace(says))
	}
	return parse(tb, tileKeys.Replace(r.b.String()))
}

func cellsUpTo(last int) string {
	var b strings.Builder
	for hour := range min(7, last+1) {
		fmt.Fprintf(&b, ` ("2026-01-05T%02d:00:00Z go" %d)`, hour, (last-hour)/7+1)
	}
	return b.String()
}

func TestTileHolds(t *testing.T) {
	for _, batches := range []int{1, 9, 10, 11, 20, 105} {
		if got := props.Judge(aTile(t, batches, nil), tilePromises("x")); len(got) > 0 {
			t.Errorf("%d batches: %v", batches, got)
		}
	}
}

// TestTileForgets: a compact file that leaves out one file of ninety is found by those
// who look at compaction, at the end, and at the last reader.
func TestTileForgets(t *testing.T) {
	h := aTile(t, 105, func(batch int, files string) string {
		if batch < 29 {
			return files
		}
		return strings.Replace(files, " (x/part-17 100)", "", 1)
	})
	got := make(map[string]string)
	for _, b := range props.Judge(h, tilePromises("x")) {
		got[b.Promise] += b.Witness + "\n"
	}
	for promise, want := range map[string]string{
		"tile-exact/x":        "count 14 events of \"2026-01-05T03:00:00Z go\", and the ranges of batches up to 104 have 15",
		"compact-safe/x":      "tile/0 life 1 wrote x/_spark_metadata/29.compact, which leaves out x/part-17",
		"listed-or-garbage/x": "last-reader/0 read 15 events of \"2026-01-05T03:00:00Z go\", and the files that the sink log names up to batch 104 have 14",
	} {
		if !strings.Contains(got[promise], want) || strings.Count(got[promise], "\n") != 1 {
			t.Errorf("%s says\n%s and not\n%s", promise, got[promise], want)
		}
		delete(got, promise)
	}
	if len(got) > 0 {
		t.Errorf("also broken: %v", got)
	}
}

// BenchmarkTile says which promise costs what over some thousand events.
func BenchmarkTile(b *testing.B) {
	h := aTile(b, 300, nil)
	for _, p := range tilePromises("x") {
		b.Run(p.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Check(h)
			}
			b.ReportMetric(float64(h.Len()), "events")
		})
	}
}

// renumber gives the events of histories that are put together their numbers.
func renumber(edges []edge) []edge {
	for i := range edges {
		var b strings.Builder
		n := 0
		for line := range strings.Lines(edges[i].history) {
			if _, says, ok := strings.Cut(line, " "); ok {
				n++
				fmt.Fprintf(&b, "%d %s", n, says)
			}
		}
		edges[i].history = b.String()
	}
	return edges
}
