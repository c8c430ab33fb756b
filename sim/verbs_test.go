//go:build synctests

package sim_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
)

// verbs are the faults that TestVerbs plays, one each: want are lines in the order in
// which they must stand in the history, never are lines that must not. P is the process
// under test in its first life, Q in its second.
var verbs = []struct {
	fault string
	want  []string
	never []string
}{
	{
		"crash P before request OffsetCommit 2",
		[]string{"P return put", "P crash", "Q start"},
		[]string{"P (request|reply) OffsetCommit 2"},
	},
	{
		"crash P after request OffsetCommit 2",
		[]string{"P request OffsetCommit 2", "P crash", "P reply OffsetCommit 2 unknown of",
			"Q start"},
		[]string{"P reply OffsetCommit 2 done"},
	},
	{
		"crash P before reply OffsetCommit 2",
		[]string{"P request OffsetCommit 2", "P crash", "P reply OffsetCommit 2 unknown of",
			"Q start"},
		[]string{"P reply OffsetCommit 2 done"},
	},
	{
		"crash P after reply OffsetCommit 2",
		[]string{"P request OffsetCommit 2", "P reply OffsetCommit 2 done", "P crash",
			"Q start"},
		[]string{"P request OffsetCommit 3"},
	},
	{
		"crash P before call put 3",
		[]string{"P return put 2 done", "P crash", "Q start"},
		[]string{"P (call|return) put 3"},
	},
	{
		"crash P after call put 3",
		[]string{"P call put 3", "P crash", "P return put 3 unknown .*etag=", "Q start"},
		[]string{"P call put 4"},
	},
	{
		"crash P before return put 3",
		[]string{"P call put 3", "P crash", "P return put 3 unknown .*etag=", "Q start"},
		[]string{"P call put 4"},
	},
	{
		"crash P after return put 3",
		[]string{"P call put 3", "P return put 3 done", "P crash", "Q start"},
		[]string{"P call put 4"},
	},
	{
		"lose P request OffsetCommit 2",
		[]string{"P fault", "P request OffsetCommit 2 not-done", "P request OffsetCommit 3",
			"P reply OffsetCommit 2 done"},
		[]string{"P crash", "P exit", "Q start"},
	},
	{
		"lose P reply OffsetCommit 2",
		[]string{"P request OffsetCommit 2", "P fault", "P reply OffsetCommit 2 unknown",
			"P request OffsetCommit 3", "P reply OffsetCommit 3 done"},
		[]string{"P crash", "P exit", "Q start"},
	},
	{
		"lose P call put 3",
		[]string{"P fault", "P call put 3 not-done", "P exit - not-done .*connection lost",
			"Q start"},
		[]string{"P return put 3"},
	},
	{
		"lose P return put 3",
		[]string{"P call put 3", "P fault", "P return put 3 unknown .*etag=",
			"P exit - not-done .*connection lost", "Q start"},
		[]string{"P return put 3 .*err="},
	},
	{
		"error P request OffsetCommit 2 NOT_COORDINATOR",
		[]string{"P fault", "P request OffsetCommit 2 not-done",
			"P reply OffsetCommit 2 .*NOT_COORDINATOR", "P request OffsetCommit 3",
			"P reply OffsetCommit 3 done"},
		[]string{"P crash", "P exit", "Q start"},
	},
	{
		"error P reply OffsetCommit 2 NOT_COORDINATOR",
		[]string{"P request OffsetCommit 2 group", "P fault",
			"P reply OffsetCommit 2 unknown", "P request OffsetCommit 3"},
		[]string{"P reply OffsetCommit 2 .*err=", "P crash", "P exit"},
	},
	{
		"error P call put 3 unavailable",
		[]string{"P fault", "P call put 3 not-done", "P return put 3 not-done of=.* err=unavailable",
			"P exit - not-done .*unavailable", "Q start"},
		[]string{"P return put 3 .*etag="},
	},
	{
		"error P return put 3 unavailable",
		[]string{"P call put 3", "P fault", "P return put 3 unknown .*etag=",
			"P exit - not-done .*unavailable", "Q start"},
		nil,
	},
	{
		"stop P at call put 3",
		[]string{"P stop", "P call put 3", "P request ConsumerGroupHeartbeat .*gen=-1",
			"P exit", "Q start"},
		[]string{"P crash"},
	},
	{
		"stop P at reply Fetch 2", // nothing in hand
		[]string{"P stop", "P request ConsumerGroupHeartbeat .*gen=-1", "P exit - done",
			"Q start"},
		[]string{"P crash", "P exit - not-done"},
	},
}

// TestVerbs reads in the history what became of a fault.
func TestVerbs(t *testing.T) {
	for _, c := range verbs {
		t.Run(c.fault, func(t *testing.T) {
			res := under(t, copierWorld(1, copier), expand(c.fault))
			sound(t, res)
			all := lines(t, res.History)
			reads(t, all, c.want)
			for _, never := range c.never {
				p := regexp.MustCompile("^" + expand(never))
				for _, line := range all {
					if p.MatchString(line) {
						t.Errorf("must not stand there: %s", line)
					}
				}
			}
		})
	}
}

// expand spells out the first and second life of the process under test.
func expand(s string) string {
	s = strings.ReplaceAll(s, "P ", "copier/0 life 1 ")
	return strings.ReplaceAll(s, "Q ", "copier/0 life 2 ")
}

// reads fails t unless lines that match want stand there in that order.
func reads(t *testing.T, all, want []string) {
	t.Helper()
	at := 0
	for _, w := range want {
		p := regexp.MustCompile("^" + expand(w))
		for at < len(all) && !p.MatchString(all[at]) {
			at++
		}
		if at == len(all) {
			t.Fatalf("nowhere after the lines before it: %s\nin:\n%s", w,
				strings.Join(of("copier/0", all), "\n"))
		}
		at++
	}
}

func of(proc string, all []string) []string {
	var mine []string
	for _, line := range all {
		if strings.HasPrefix(line, proc+" ") && !strings.Contains(line, "ApiVersions") {
			mine = append(mine, line[:min(len(line), 140)])
		}
	}
	return mine
}

// sound fails t where a history contradicts what every run keeps to: lives count
// up one by one, what a life does is numbered without a gap, a life that ended does
// nothing more, and the only things said of it later are answers that nobody heard.
func sound(t *testing.T, res *sim.Result) {
	t.Helper()
	type sort struct {
		proc string
		life int
		kind model.Kind
		op   string
	}
	lives, seen := make(map[string]int), make(map[sort]int)
	over := make(map[string]bool)
	for _, e := range res.History.Events() {
		if e.Proc == "" || e.Proc == "world/0" {
			continue
		}
		if e.Kind == model.Start {
			lives[e.Proc]++
			over[e.Proc] = false
		}
		if lives[e.Proc] != e.Life {
			if !lost(e) || e.Life > lives[e.Proc] {
				t.Errorf("of another life than %d: %v", lives[e.Proc], text(e))
			}
		} else if over[e.Proc] && !lost(e) {
			t.Errorf("after its end: %v", text(e))
		}
		if e.Kind == model.Crash || e.Kind == model.Exit {
			over[e.Proc] = true
		}
		if e.Kind.Boundary() {
			s := sort{e.Proc, e.Life, e.Kind, e.Op}
			if seen[s]++; seen[s] != e.Nth {
				t.Errorf("is number %d: %v", seen[s], text(e))
			}
		}
	}
	if !res.Drained || len(res.Broken) > 0 {
		t.Errorf("drained: %v, broken: %v", res.Drained, res.Broken)
	}
	if len(res.Unfired) > 0 {
		t.Errorf("unfired: %v", res.Unfired)
	}
}

func lost(e model.Event) bool {
	return (e.Kind == model.Reply || e.Kind == model.Return) && e.Outcome == model.Unknown
}

func text(e model.Event) string { return string(model.AppendText(nil, &e)) }

func TestDelayHoldsOneEvent(t *testing.T) {
	const by = 7 * time.Second
	res := under(t, copierWorld(1, copier), expand("delay P reply OffsetCommit 2 by 7s"))
	sound(t, res)
	began := events(res.History, "copier/0", model.Fault)
	if len(began) != 1 {
		t.Fatalf("faults: %v", began)
	}
	others := 0
	for _, e := range res.History.Events() {
		if e.Proc != "copier/0" || e.Seq < began[0].Seq {
			continue
		}
		switch {
		case e.Op == "Fetch" && e.Kind == model.Reply:
			others++
		case e.Op == "OffsetCommit" && e.Kind == model.Reply:
			if e.Nth != 2 || e.At-began[0].At != by {
				t.Errorf("reply %d came %v after the delay began, want 2 after %v",
					e.Nth, e.At-began[0].At, by)
			}
			if others == 0 {
				t.Error("nothing else went on during the delay")
			}
			return
		}
	}
	t.Error("the reply never came")
}
