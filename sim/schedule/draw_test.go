package schedule_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// chooser is the bridge to rapid that sim has, too.
type chooser struct{ t *rapid.T }

func (c chooser) Intn(label string, n int) int { return rapid.IntRange(0, n-1).Draw(c.t, label) }

// zero is what rapid shrinks towards.
type zero struct{}

func (zero) Intn(string, int) int { return 0 }

// history is a run of a landing process: a lot of fetching, few commits.
func history() *model.History {
	h := &model.History{}
	add := func(proc string, k model.Kind, op string, times int) {
		for n := range times {
			h.Append(model.Event{Proc: proc, Life: 1, Kind: k, Op: op, Nth: n + 1})
		}
	}
	h.Append(model.Event{Kind: model.Heal})
	h.Append(model.Event{Proc: "landing/0", Life: 1, Kind: model.Start})
	h.Append(model.Event{Proc: "un nameable", Life: 1, Kind: model.Call, Op: "put", Nth: 1})
	for _, k := range []model.Kind{model.Reply, model.Request} {
		add("landing/0", k, "Fetch", 400)
		add("landing/0", k, "Heartbeat", 100)
		add("landing/0", k, "ApiVersions", 1)
		add("landing/0", k, "OffsetCommit", 3)
		add("player/0", k, "Produce", 24)
	}
	add("landing/0", model.Return, "put", 5)
	add("landing/0", model.Call, "put", 5)
	h.Append(model.Event{Proc: "player/0", Life: 2, Kind: model.Request, Op: "Produce", Nth: 1})
	return h
}

func alphabet() schedule.Alphabet { return schedule.Observe(history()) }

func TestObserve(t *testing.T) {
	want := schedule.Alphabet{Points: []schedule.Seen{
		{Proc: "landing/0", Kind: model.Request, Op: "ApiVersions", Most: 1, Lives: 1},
		{Proc: "landing/0", Kind: model.Request, Op: "Fetch", Most: 400, Lives: 1},
		{Proc: "landing/0", Kind: model.Request, Op: "Heartbeat", Most: 100, Lives: 1},
		{Proc: "landing/0", Kind: model.Request, Op: "OffsetCommit", Most: 3, Lives: 1},
		{Proc: "landing/0", Kind: model.Reply, Op: "ApiVersions", Most: 1, Lives: 1},
		{Proc: "landing/0", Kind: model.Reply, Op: "Fetch", Most: 400, Lives: 1},
		{Proc: "landing/0", Kind: model.Reply, Op: "Heartbeat", Most: 100, Lives: 1},
		{Proc: "landing/0", Kind: model.Reply, Op: "OffsetCommit", Most: 3, Lives: 1},
		{Proc: "landing/0", Kind: model.Call, Op: "put", Most: 5, Lives: 1},
		{Proc: "landing/0", Kind: model.Return, Op: "put", Most: 5, Lives: 1},
		{Proc: "player/0", Kind: model.Request, Op: "Produce", Most: 24, Lives: 2},
		{Proc: "player/0", Kind: model.Reply, Op: "Produce", Most: 24, Lives: 1},
	}}
	if diff := cmp.Diff(want, alphabet()); diff != "" {
		t.Error(diff)
	}
}

func TestDrawOfZerosIsTheSimplest(t *testing.T) {
	got := schedule.Draw(zero{}, alphabet(), schedule.Options{MaxFaults: 9})
	want := "crash landing/0 life 1 before request OffsetCommit 1"
	if len(got) != 1 || got[0].String() != want {
		t.Fatalf("drew %v, want %s", got, want)
	}
	if simpler := got[0].Simpler(); len(simpler) > 0 {
		t.Errorf("there are simpler ones: %v", simpler)
	}
}

func TestDrawKeepsToItsOptions(t *testing.T) {
	o := schedule.Options{Verbs: []string{"pause", "error"}, MaxFaults: 20, Lives: 2, MaxNth: 4,
		Pauses: []time.Duration{7 * time.Second}, Codes: map[string][]string{
			"Produce": {"PRODUCER_FENCED"}, "put": {"precondition"}, "OffsetCommit": {}}}
	rapid.Check(t, func(rt *rapid.T) {
		seen := map[schedule.Point]bool{}
		faults := schedule.Draw(chooser{rt}, alphabet(), o)
		if len(faults) < 1 || len(faults) > 20 {
			rt.Fatalf("%d faults", len(faults))
		}
		for _, f := range faults {
			at, a := f.At(), f.Action()
			if seen[at] {
				rt.Fatalf("two faults at %v", at)
			}
			seen[at] = true
			if at.Life < 1 || at.Life > 2 || at.Nth < 1 || at.Nth > 4 {
				rt.Fatalf("out of bounds: %v", f)
			}
			switch {
			case a.Do == schedule.Pause && a.For == 7*time.Second:
			case a.Do == schedule.Answer && at.Op == "Produce" && a.Code == "PRODUCER_FENCED":
			case a.Do == schedule.Answer && at.Op == "put" && a.Code == "precondition":
			case a.Do == schedule.Answer && (at.Op == "Fetch" || at.Op == "Heartbeat"):
			default:
				rt.Fatalf("not allowed: %v", f)
			}
		}
	})
}

// TestDrawFindsTheRare: three commits among five hundred fetches and heartbeats
// are drawn more often than all of those.
func TestDrawFindsTheRare(t *testing.T) {
	const draws = 4000
	ops, nths, lives := map[string]int{}, map[int]int{}, map[int]int{}
	c := schedule.Seeded(1)
	for range draws {
		faults := schedule.Draw(c, alphabet(), schedule.Options{})
		ops[faults[0].At().Op]++
		for _, f := range faults {
			nths[f.At().Nth]++
			lives[f.At().Life]++
		}
	}
	frequent := ops["Fetch"] + ops["Heartbeat"] + ops["ApiVersions"]
	if ops["OffsetCommit"] < frequent || ops["put"] < frequent || ops["Produce"] < draws/3 {
		t.Errorf("operations drawn: %v", ops)
	}
	if nths[1] < nths[2] || nths[2] < nths[9] || nths[26] == 0 {
		t.Errorf("occurrences drawn: %v", nths)
	}
	if lives[1] < 2*lives[2] || lives[2] < lives[3] || lives[3] == 0 || len(lives) != 3 {
		t.Errorf("lives drawn: %v", lives)
	}
}

func TestDrawIsDeterministic(t *testing.T) {
	draw := func(seed uint64) []schedule.Fault {
		c := schedule.Seeded(seed)
		o := schedule.DrawSwarm(c, schedule.Options{MaxFaults: 5}).Narrow(schedule.Options{})
		return schedule.Draw(c, alphabet(), o)
	}
	different := false
	for seed := range uint64(50) {
		if diff := cmp.Diff(draw(seed), draw(seed)); diff != "" {
			t.Fatal(diff)
		}
		different = different || !slices.Equal(draw(seed), draw(seed+1))
	}
	if !different {
		t.Error("fifty seeds gave one schedule")
	}
}

func TestDrawFromNothing(t *testing.T) {
	if got := schedule.Draw(zero{}, schedule.Alphabet{}, schedule.Options{}); got != nil {
		t.Errorf("drew %v from an empty alphabet", got)
	}
	only := schedule.Alphabet{Points: []schedule.Seen{
		{Proc: "p", Kind: model.Request, Op: "ApiVersions", Most: 1, Lives: 1}}}
	o := schedule.Options{Verbs: []string{"error"}}
	if got := schedule.Draw(zero{}, only, o); got != nil {
		t.Errorf("drew %v where the verb has nothing", got)
	}
}

func TestSwarm(t *testing.T) {
	all := schedule.DrawSwarm(zero{}, schedule.Options{})
	want := "verbs crash,database,delay,error,lose,outage,pause,stop; pauses 1s,5s,12s,50s,70s; " +
		"delays 1s,5s,12s,35s,70s"
	if diff := cmp.Diff(want, all.String()); diff != "" {
		t.Error(diff)
	}
	alone := 0
	for seed := range uint64(8000) {
		s := schedule.DrawSwarm(schedule.Seeded(seed), schedule.Options{})
		if len(s.Verbs) == 0 || len(s.Pauses) == 0 || len(s.Delays) == 0 {
			t.Fatalf("seed %d: %v", seed, s)
		}
		if len(s.Verbs) == 1 {
			alone++
		}
	}
	if alone < 10 {
		t.Errorf("one verb alone in %d of 8000 swarms", alone)
	}
}

func TestOptionsCheck(t *testing.T) {
	for _, tt := range []struct {
		o    schedule.Options
		want string
	}{
		{schedule.Options{}, ""},
		{schedule.Options{Verbs: []string{"crash", "kill"}},
			`no fault verb "kill"; there are crash, database, delay, error, lose, outage, pause, stop`},
		{schedule.Options{Delays: []time.Duration{0}},
			"a pause or delay of 0s: want above 0 and up to 24h0m0s"},
		{schedule.Options{Codes: map[string][]string{"put": {"denied", "throtled"}}},
			`no error "throtled" (did you mean "throttled"?) to answer put with`},
	} {
		got := ""
		if err := tt.o.Check(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("Check: %q, want %q", got, tt.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Draw did not panic on wrong options")
		}
	}()
	schedule.Draw(zero{}, alphabet(), schedule.Options{Verbs: []string{"kill"}})
}

func TestEnumerate(t *testing.T) {
	got := slices.Collect(schedule.Enumerate(alphabet(), []string{"crash"}))
	total := 0
	for _, s := range alphabet().Points {
		total += 2 * s.Most * s.Lives
	}
	if len(got) != total {
		t.Errorf("%d crashes, want %d", len(got), total)
	}
	seen := map[schedule.Fault]bool{}
	for _, f := range got {
		if seen[f] {
			t.Fatalf("%v comes twice", f)
		}
		seen[f] = true
	}
	again := slices.Collect(schedule.Enumerate(alphabet(), []string{"crash"}))
	if !slices.Equal(got, again) {
		t.Error("a second enumeration is different")
	}
	if got[0].At().Op != "OffsetCommit" || got[len(got)-1].At().Op != "Heartbeat" {
		t.Errorf("from %v to %v: want the frequent operations last", got[0], got[len(got)-1])
	}
	var few []string
	for f := range schedule.Enumerate(alphabet(), nil) {
		if few = append(few, f.String()); f.At().Nth == 2 {
			break
		}
	}
	if len(few) != 21 { // 2 crash, 5 delay, 4 error, 1 lose, 2 outage, 5 pause, 1 stop, and one
		t.Errorf("%d faults up to the second occurrence:\n%q", len(few), few)
	}
}
