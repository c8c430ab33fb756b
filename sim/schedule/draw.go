package schedule

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/model"
)

// Chooser makes random choices. Intn returns a number from 0 to n-1, n >= 1; the
// label says what is chosen. Smaller is simpler: a Chooser that shrinks makes its
// numbers smaller.
type Chooser interface {
	Intn(label string, n int) int
}

// Seeded returns a Chooser with a random source of its own: the same seed makes
// the same choices, on every machine. It does not shrink, and it is not safe for
// concurrent use.
func Seeded(seed uint64) Chooser {
	const stream = 0x9e3779b97f4a7c15
	return seeded{rand.New(rand.NewPCG(seed, stream))}
}

type seeded struct{ r *rand.Rand }

func (s seeded) Intn(_ string, n int) int { return s.r.IntN(n) }

// choose leaves out choices that are none: they would only make shrinking slower.
func choose(c Chooser, label string, n int) int {
	if n <= 1 {
		return 0
	}
	return c.Intn(label, n)
}

// Options narrow what is drawn. The zero value is useful: every verb, up to 3
// faults, lives 1 to 3, default durations and codes.
type Options struct {
	Verbs     []string // allowed verbs; empty: all
	MaxFaults int      // most faults of one schedule; 0: 3
	Lives     int      // greatest life that a fault may point at; 0: 3
	MaxNth    int      // greatest occurrence that a fault may point at; 0: no limit
	// Pauses and Delays are the durations to choose from, shortest first; empty:
	// lists that lie on both sides of the usual client timeouts.
	Pauses, Delays []time.Duration
	// Codes replaces the errors to choose from for the operations that it names,
	// applied or not, mildest first; an empty list: none.
	Codes map[string][]string
}

// The durations lie on both sides of what a Kafka client waits for by default:
// heartbeats every 3 s, 10 s on top of a request's own timeout, transactions of
// 40 s (franz-go), sessions of 45 s, rebalances of 60 s.
var (
	defaultPauses = []time.Duration{1 * time.Second, 5 * time.Second, 12 * time.Second,
		50 * time.Second, 70 * time.Second}
	defaultDelays = []time.Duration{1 * time.Second, 5 * time.Second, 12 * time.Second,
		35 * time.Second, 70 * time.Second}
)

const (
	defaultFaults = 3
	defaultLives  = 3
)

func (o Options) withDefaults() Options {
	if o.MaxFaults <= 0 {
		o.MaxFaults = defaultFaults
	}
	o.MaxFaults = min(o.MaxFaults, MaxFaults)
	if o.Lives <= 0 {
		o.Lives = defaultLives
	}
	if o.MaxNth <= 0 {
		o.MaxNth = MaxCount
	}
	if len(o.Pauses) == 0 {
		o.Pauses = defaultPauses
	}
	if len(o.Delays) == 0 {
		o.Delays = defaultDelays
	}
	return o
}

// Check returns an error if a verb or a code does not exist, or a duration cannot
// stand in a schedule.
func (o Options) Check() error {
	for _, name := range o.Verbs {
		if _, ok := verb(name); !ok {
			return fmt.Errorf("no fault verb %q%s; there are %s",
				name, DidYouMean(name, VerbNames()), strings.Join(VerbNames(), ", "))
		}
	}
	for _, d := range slices.Concat(o.Pauses, o.Delays) {
		if d <= 0 || d > MaxDuration {
			return fmt.Errorf("a pause or delay of %s: want above 0 and up to %s", d, MaxDuration)
		}
	}
	known := append(KafkaErrors(), storeErrors...)
	for _, op := range slices.Sorted(maps.Keys(o.Codes)) {
		for _, code := range o.Codes[op] {
			if !slices.Contains(known, code) {
				return fmt.Errorf("no error %q%s to answer %s with",
					code, DidYouMean(code, known), op)
			}
		}
	}
	return nil
}

func (o Options) codes(k model.Kind, op string) []string {
	codes, ok := o.Codes[op]
	if !ok {
		return defaultCodes(k, op)
	}
	return slices.DeleteFunc(slices.Clone(codes), func(code string) bool {
		return slices.Contains(storeErrors, code) != ofStore(k)
	})
}

// shorter returns those of list that are below d.
func shorter(list []time.Duration, d time.Duration) []time.Duration {
	i := slices.IndexFunc(list, func(e time.Duration) bool { return e >= d })
	if i < 0 {
		return list
	}
	return list[:i]
}

// Draw chooses 1 to o.MaxFaults faults for places of the alphabet, none for an
// empty one. No two stand at the same point.
//
// A run has hundreds of fetches and heartbeats and a handful of commits, and the
// commits decide. So the choice is not uniform over events: first the process,
// then the sort of event with equal weights (frequent ones a quarter), then the
// occurrence with a bias to the first ones, up to two more than were seen, since
// faults make for repeats. Lives after the first are chosen only where an earlier
// fault could have ended one. A choice of 0 everywhere is the simplest fault.
//
// It panics if o is wrong: see [Options.Check].
func Draw(c Chooser, a Alphabet, o Options) []Fault {
	if err := o.Check(); err != nil {
		panic("schedule: " + err.Error())
	}
	o = o.withDefaults()
	d := drawing{c: c, o: o, verbs: verbsNamed(o.Verbs), earlier: map[string]int{}}
	d.points = slices.DeleteFunc(ranked(a.Points), func(s Seen) bool {
		return len(d.verbsAt(s.point())) == 0
	})
	if len(d.points) == 0 {
		return nil
	}
	taken := map[Point]bool{}
	var faults []Fault
	for range 1 + choose(c, "faults", o.MaxFaults) {
		f := d.fault()
		// A second fault at one point is left out, not drawn again: choices that
		// shrink to 0 would go round and round.
		if !taken[f.At()] {
			taken[f.At()] = true
			faults = append(faults, f)
			if endsLives(f.Action().Do) {
				d.earlier[f.At().Proc]++
			}
		}
	}
	return faults
}

type drawing struct {
	c       Chooser
	o       Options
	verbs   []Verb
	points  []Seen
	earlier map[string]int // process -> faults drawn so far that can end a life
}

func (s Seen) point() Point { return Point{Proc: s.Proc, Life: 1, Kind: s.Kind, Op: s.Op, Nth: 1} }

// verbsAt returns the verbs that have a fault at p.
func (d *drawing) verbsAt(p Point) []Verb {
	var out []Verb
	for _, v := range d.verbs {
		if len(v.All(p, d.o)) > 0 {
			out = append(out, v)
		}
	}
	return out
}

func (d *drawing) fault() Fault {
	s := d.event(d.process())
	p := s.point()
	p.Nth = d.nth(min(s.Most+2, d.o.MaxNth))
	p.Life = d.life(s)
	verbs := d.verbsAt(p)
	return verbs[choose(d.c, "verb", len(verbs))].Draw(d.c, p, d.o)
}

// process returns the points of one process.
func (d *drawing) process() []Seen {
	var procs []string
	for _, s := range d.points {
		procs = append(procs, s.Proc)
	}
	slices.Sort(procs)
	procs = slices.Compact(procs)
	name := procs[choose(d.c, "proc", len(procs))]
	return slices.DeleteFunc(slices.Clone(d.points), func(s Seen) bool { return s.Proc != name })
}

// event chooses among points by weight.
func (d *drawing) event(points []Seen) Seen {
	weight := func(s Seen) int {
		if s.frequent() {
			return 1
		}
		return 4
	}
	total := 0
	for _, s := range points {
		total += weight(s)
	}
	n := choose(d.c, "event", total)
	for _, s := range points {
		if n -= weight(s); n < 0 {
			return s
		}
	}
	panic("schedule: the Chooser returned a number that is not below n")
}

// nth chooses a power of two first and then a number up to it: 1 in every second
// draw for a few, in every fifth for hundreds, and still the last now and then.
func (d *drawing) nth(most int) int {
	sizes := 1
	for 1<<(sizes-1) < most {
		sizes++
	}
	size := 1 << choose(d.c, "nth size", sizes)
	return 1 + choose(d.c, "nth", min(size, most))
}

// endsLives reports whether a life may end by d: the process is killed or stopped,
// or gives up on an error or, as a zombie, after a pause.
func endsLives(d Do) bool { return d == Kill || d == Stop || d == Answer || d == Pause }

// life chooses 1 for a first fault, if that is the only life seen, and later ones
// as far as the faults drawn so far may have ended lives.
func (d *drawing) life(s Seen) int {
	weights := [...]int{1, 1, 1, 1, 2, 2, 2, 3} // index: choice
	most := min(d.o.Lives, max(1, s.Lives)+d.earlier[s.Proc])
	if most == 1 {
		return 1
	}
	return min(weights[choose(d.c, "life", len(weights))], most)
}
