package schedule_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

func TestCheck(t *testing.T) {
	s := parse(t, manual)
	if err := s.Check([]string{"player/0", "landing/1", "landing/0"}); err != nil {
		t.Errorf("Check: %v", err)
	}
	err := s.Check([]string{"player/1", "landing/1", "landing/0"})
	want := `world landing has no process "player/0" (did you mean "player/1"?); it has ` +
		`landing/0, landing/1, player/1 (in the fault: lose player/0 life 1 reply Produce 5)`
	if err == nil || err.Error() != want {
		t.Errorf("Check: %v\nwant   %s", err, want)
	}
}

func TestPlan(t *testing.T) {
	s := parse(t, manual+"pause landing/0 life 1 at request OffsetCommit 2 for 5s\n")
	p := schedule.NewPlan(s.Faults)
	elsewhere := s.Faults[0].At()
	elsewhere.Nth++
	if got := p.At(elsewhere); got != nil {
		t.Errorf("%v fired at another point", got)
	}
	want := []schedule.Fault{s.Faults[0], s.Faults[5]}
	if diff := cmp.Diff(want, p.At(s.Faults[0].At())); diff != "" {
		t.Error(diff)
	}
	if got := p.At(s.Faults[0].At()); got != nil {
		t.Errorf("%v fired a second time", got)
	}
	if diff := cmp.Diff(s.Faults[1:5], p.Unfired()); diff != "" {
		t.Error(diff)
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "landing-81234.schedule")
	for range 2 { // the second replaces the first
		if err := parse(t, manual).Save(path); err != nil {
			t.Fatal(err)
		}
	}
	s, err := schedule.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parse(t, manual), s); diff != "" {
		t.Error(diff)
	}
	if err := (schedule.Schedule{World: "two words"}).Save(path); err == nil {
		t.Error("saved what does not read back")
	}
	if err := s.Save(filepath.Join(dir, "missing", "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Save in a missing folder: %v", err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 1 {
		t.Errorf("temporary files were left: %v", entries)
	}
	if _, err := schedule.Load(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of a missing file: %v", err)
	}
	os.WriteFile(path, []byte("world w\nseed x\n"), 0o600)
	_, err = schedule.Load(path)
	want := path + `:2:6: "x" should be a whole number from 0 to 18446744073709551615; write: seed N`
	if err == nil || err.Error() != want {
		t.Errorf("Load: %v\nwant  %s", err, want)
	}
}

// TestVerbs: each verb's usage, with values put in, is a line that it parses.
func TestVerbs(t *testing.T) {
	if !slices.IsSorted(schedule.VerbNames()) || len(schedule.VerbNames()) < 6 {
		t.Errorf("verbs: %v", schedule.VerbNames())
	}
	for _, v := range schedule.Verbs() {
		at := schedule.Point{Proc: "p/0", Life: 2, Kind: model.Reply, Op: "Produce", Nth: 3}
		if v.Name == "database" { // it strikes while somebody speaks to one
			at.Kind, at.Op = model.Call, "commit"
		}
		all := v.All(at, schedule.Options{})
		if len(all) == 0 {
			t.Errorf("%s has no fault at %v", v.Name, at)
		}
		for _, f := range all {
			back, err := schedule.ParseFault(f.String())
			if err != nil || back != f || f.At() != at {
				t.Errorf("%v came back as %v, %v", f, back, err)
			}
			if f.Action().Do == schedule.Pass {
				t.Errorf("%v does nothing", f)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic on a second verb of one name")
		}
	}()
	schedule.Register(schedule.Verbs()[0])
}

func TestCodes(t *testing.T) {
	for name, want := range map[string]int16{"NOT_ENOUGH_REPLICAS": 19, "REQUEST_TIMED_OUT": 7,
		"UNKNOWN_SERVER_ERROR": -1, "NOT_LEADER_OR_FOLLOWER": 6, "PRODUCER_FENCED": 90} {
		if got, ok := schedule.Code(name); !ok || got != want {
			t.Errorf("Code(%s) = %d, %v; want %d", name, got, ok, want)
		}
	}
	if got, ok := schedule.Code("throttled"); ok {
		t.Errorf("Code of a store error word: %d", got)
	}
	names := append(schedule.KafkaErrors(), schedule.StoreErrors()...)
	slices.Sort(names)
	if len(names) != len(slices.Compact(slices.Clone(names))) {
		t.Error("a name stands twice")
	}
	if !schedule.ValidName("landing/0") || schedule.ValidName("") || schedule.ValidName("a b") {
		t.Error("ValidName takes wrong names for right ones, or right for wrong")
	}
	// Whatever is drawn parses.
	for _, v := range schedule.Verbs() {
		for f := range schedule.Enumerate(alphabet(), []string{v.Name}) {
			if _, err := schedule.ParseFault(f.String()); err != nil {
				t.Fatalf("%v: %v", f, err)
			}
		}
	}
	if got := schedule.Lose.String() + schedule.Do(99).String(); got != "loseDo(99)" {
		t.Errorf("Do.String: %s", got)
	}
}
