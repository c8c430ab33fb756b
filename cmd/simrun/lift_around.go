package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// A lifted schedule names events by the numbers of a specification, with a few records
// in one partition and nothing but what matters. A world has more of everything, so that
// the schedules around it are tried too, the nearest first.

// mostTries bounds the schedules around a lifted one, that included.
const mostTries = 400

// How far from a lifted schedule is looked.
var (
	liftShifts    = []int{0, 1, -1, 2, 3, 4, -2, 5, 6, 8} // of occurrences
	liftDurations = []string{"", "12s", "5s", "120s"}     // "": as lifted
)

const (
	liftLives = 2 // how many lives a fault may come later, and one less
	liftSeeds = 6 // of the workload
)

// shift is how a schedule differs from the lifted one.
type shift struct {
	end      bool  // with a crash after the last step
	turn     int   // every process is the one so many replicas on
	lives    int   // every fault comes so many lives later
	nth      []int // and each so many occurrences later
	duration string
	seed     uint64
}

// try is a schedule to try.
type try struct {
	shift
	faults []schedule.Fault
}

// distance orders shifts.
func (s shift) distance() int {
	d := 2*s.turn + 3*s.lives + 2*int(s.seed)
	if s.end {
		d++
	}
	for _, n := range s.nth {
		d += slices.Index(liftShifts, n)
	}
	return d + slices.Index(liftDurations, s.duration)
}

// String says the shift for people.
func (s shift) String() string {
	var how []string
	if s.end {
		how = append(how, "with a crash after the last step")
	}
	if moved := slices.ContainsFunc(s.nth, func(n int) bool { return n != 0 }); moved {
		var by []string
		for _, n := range s.nth {
			by = append(by, fmt.Sprintf("%+d", n))
		}
		how = append(how, "occurrences moved by "+strings.Join(by, ", "))
	}
	if s.lives > 0 {
		how = append(how, fmt.Sprintf("%d lives later", s.lives))
	}
	if s.turn > 0 {
		how = append(how, "replicas exchanged")
	}
	if s.duration != "" {
		how = append(how, "durations of "+s.duration)
	}
	if s.seed > 0 {
		how = append(how, fmt.Sprintf("workload of seed %d", s.seed))
	}
	if len(how) == 0 {
		return "as lifted"
	}
	return strings.Join(how, ", ")
}

// neighbourhood returns the lifted schedule of a report and those around it.
func neighbourhood(w sim.World, r specs.Report) ([]try, error) {
	var all []try
	seen := make(map[string]bool)
	for _, s := range shifts(w, r) {
		lines := r.Lifted
		if s.end {
			lines = append(slices.Clone(lines), r.LiftedEnd)
		}
		t := try{shift: s}
		key := fmt.Sprint(s.seed)
		for i, line := range lines {
			text, ok := s.line(w, line, i)
			if !ok {
				break
			}
			f, err := schedule.ParseFault(text)
			if err != nil {
				return nil, fmt.Errorf("the line %q: %w", text, err)
			}
			t.faults = append(t.faults, f)
			key += "\n" + text
		}
		if len(t.faults) < len(lines) || seen[key] {
			continue
		}
		seen[key] = true
		if all = append(all, t); len(all) == mostTries {
			break
		}
	}
	return all, nil
}

// shifts returns how schedules may differ, the least first.
func shifts(w sim.World, r specs.Report) []shift {
	durations := liftDurations
	if !slices.ContainsFunc(r.Lifted, func(line string) bool { return timed(line) }) {
		durations = durations[:1]
	}
	var all []shift
	for seed := range uint64(liftSeeds) {
		for _, end := range []bool{false, true} {
			if end && r.LiftedEnd == "" {
				continue
			}
			faults := len(r.Lifted)
			if end {
				faults++
			}
			for turn := range max(1, w.Processes[0].Replicas) {
				for lives := range liftLives {
					for _, d := range durations {
						for _, nth := range moves(faults) {
							all = append(all, shift{end, turn, lives, nth, d, seed})
						}
					}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b shift) int {
		return cmp.Compare(a.distance(), b.distance())
	})
	return all
}

// moves returns how the occurrences of so many faults may move: each by itself, or, of
// more than two, all together.
func moves(faults int) [][]int {
	if faults == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, n := range liftShifts {
		switch faults {
		case 2:
			for _, m := range liftShifts {
				all = append(all, []int{n, m})
			}
		default:
			all = append(all, slices.Repeat([]int{n}, faults))
		}
	}
	return all
}

// timed says that a line ends in a duration.
func timed(line string) bool {
	words := strings.Fields(line)
	return len(words) > 2 && slices.Contains([]string{"by", "for"}, words[len(words)-2])
}

// line returns the i-th line of the schedule, shifted; false where there is no such
// event. A replica that the world does not have is its only one.
func (s shift) line(w sim.World, line string, i int) (string, bool) {
	words := strings.Fields(line) // VERB PROC life N [before|after|at] KIND OP N ...
	event := 4
	if slices.Contains([]string{"before", "after", "at"}, words[event]) {
		event++
	}
	name, number, _ := strings.Cut(words[1], "/")
	replica, _ := strconv.Atoi(number)
	replicas := 1
	for _, p := range w.Processes {
		if p.Name == name {
			replicas = max(1, p.Replicas)
		}
	}
	words[1] = fmt.Sprintf("%s/%d", name, (replica+s.turn)%replicas)
	life, _ := strconv.Atoi(words[3])
	words[3] = strconv.Itoa(life + s.lives)
	nth, _ := strconv.Atoi(words[event+2])
	nth += s.nth[i]
	words[event+2] = strconv.Itoa(nth)
	if s.duration != "" && timed(line) {
		words[len(words)-1] = s.duration
	}
	return strings.Join(words, " "), nth > 0
}
