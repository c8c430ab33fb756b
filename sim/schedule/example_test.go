package schedule_test

import (
	"fmt"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// A schedule is a text that people write, and that prints in one canonical form.
func ExampleParse() {
	s, err := schedule.Parse(strings.NewReader(`# the zombie of issue 800
world landing
seed 7
pause landing/1 life 1 at call put 3 for 1m   # longer than the session
crash landing/0 life 1 after request OffsetCommit 2
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(s)
	_, err = schedule.Parse(strings.NewReader("world w\nseed 7\nlose p life 1 replay Produce 2\n"))
	fmt.Println(strings.ReplaceAll(err.Error(), "; ", "\n"))
	// Output:
	// world landing
	// seed 7
	// pause landing/1 life 1 at call put 3 for 60s
	// crash landing/0 life 1 after request OffsetCommit 2
	// line 3, column 15: "replay" should be request, reply, call or return (did you mean "reply"?)
	// write: lose PROC life N KIND OP N
}

// The alphabet comes from a run in which nothing went wrong. One seed, one
// schedule.
func ExampleDraw() {
	run := &model.History{}
	for n := 1; n <= 3; n++ {
		for _, e := range []model.Event{
			{Kind: model.Request, Op: "Fetch"}, {Kind: model.Reply, Op: "Fetch"},
			{Kind: model.Call, Op: "put"}, {Kind: model.Return, Op: "put"},
			{Kind: model.Request, Op: "OffsetCommit"}, {Kind: model.Reply, Op: "OffsetCommit"},
		} {
			e.Proc, e.Life, e.Nth = "landing/0", 1, n
			run.Append(e)
		}
	}
	c := schedule.Seeded(12)
	o := schedule.Options{MaxFaults: 4}
	o = schedule.DrawSwarm(c, o).Narrow(o)
	fmt.Print(schedule.Schedule{World: "landing", Seed: 12,
		Faults: schedule.Draw(c, schedule.Observe(run), o)})
	// Output:
	// world landing
	// seed 12
	// pause landing/0 life 1 at call put 1 for 70s
	// delay landing/0 life 1 reply OffsetCommit 1 by 70s
	// pause landing/0 life 2 at reply OffsetCommit 3 for 12s
}

// A run asks its plan at each boundary event.
func ExamplePlan() {
	plan := schedule.NewPlan([]schedule.Fault{
		schedule.MustFault("lose landing/0 life 1 return put 2"),
		schedule.MustFault("crash landing/0 life 2 before call put 9"),
	})
	for n := 1; n <= 3; n++ {
		e := model.Event{Proc: "landing/0", Life: 1, Kind: model.Return, Op: "put", Nth: n}
		for _, f := range plan.At(schedule.PointOf(&e)) {
			fmt.Println("now:", f.Action().Do, "at", f.At())
		}
	}
	fmt.Println("never:", plan.Unfired())
	// Output:
	// now: lose at landing/0 life 1 return put 2
	// never: [crash landing/0 life 2 before call put 9]
}

// A fault is made simpler step by step as long as the run still fails.
func ExampleShrink() {
	found := []schedule.Fault{
		schedule.MustFault("lose player/0 life 1 reply Produce 7"),
		schedule.MustFault("crash landing/0 life 3 after return put 12"),
	}
	// Stands for a run: this program loses data if it dies after any put but the
	// first.
	fails := func(faults []schedule.Fault) bool {
		for _, f := range faults {
			if a := f.Action(); a.Do == schedule.Kill && a.After && f.At().Nth > 1 {
				return true
			}
		}
		return false
	}
	fmt.Println(schedule.Shrink(found, fails, 100))
	// Output:
	// [crash landing/0 life 1 after return put 2]
}
