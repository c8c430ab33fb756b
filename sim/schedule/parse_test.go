package schedule_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hopcheck/hopcheck/sim/schedule"
)

// manual is the example of the manual for users: it must come back byte by byte.
const manual = `world landing
seed 81234
digest 5be0cd19137e2179
crash landing/0 life 1 after request OffsetCommit 2
lose player/0 life 1 reply Produce 5
pause landing/1 life 1 at call put 3 for 60s
delay landing/0 life 2 return put 1 by 20s
error player/0 life 1 reply Produce 2 NOT_ENOUGH_REPLICAS
`

func parse(t *testing.T, text string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, text)
	}
	return s
}

func TestManualComesBack(t *testing.T) {
	if diff := cmp.Diff(manual, parse(t, manual).String()); diff != "" {
		t.Error(diff)
	}
}

func TestParseIsLenientWithFormAlone(t *testing.T) {
	const in = "# found on a Tuesday\r\n\n  seed\t7  # of the workload\nworld a.b-c_d/e\n" +
		"mutant eager-commit\n\n#crash x\n" +
		"pause  p/0 life 1 at return put 1 for 1m30s # longer than the session\n" +
		"delay p/0 life 1 call put 1 by 1.5s\ndelay p/0 life 1 call put 2 by 2us\n" +
		"delay p/0 life 1 call put 3 by 3ns\nstop p/0 life 2 at reply Fetch 9\n" +
		"error p/0 life 1 request Produce 1 NOT_LEADER_OR_FOLLOWER\n" +
		"error p/0 life 1 call put 1 throttled\n"
	const want = "world a.b-c_d/e\nmutant eager-commit\nseed 7\n" +
		"pause p/0 life 1 at return put 1 for 90s\n" +
		"delay p/0 life 1 call put 1 by 1500ms\ndelay p/0 life 1 call put 2 by 2us\n" +
		"delay p/0 life 1 call put 3 by 3ns\nstop p/0 life 2 at reply Fetch 9\n" +
		"error p/0 life 1 request Produce 1 NOT_LEADER_FOR_PARTITION\n" +
		"error p/0 life 1 call put 1 throttled\n"
	if diff := cmp.Diff(want, parse(t, in).String()); diff != "" {
		t.Error(diff)
	}
}

// refusal is a file that Parse refuses, and with what.
type refusal struct{ name, in, want string }

// head is what stands before the faults of a refused file.
const head = "world w\nseed 1\n"

func TestParseRefusesFiles(t *testing.T) {
	long := strings.Repeat("x", schedule.MaxLine)
	many := head
	for i := range schedule.MaxFaults + 1 {
		many += fmt.Sprintf("lose p life 1 call put %d\n", i+1)
	}
	refuse(t, []refusal{
		{"empty", "", "the schedule is empty; it begins with: world NAME"},
		{"comments", "# nothing\n", "the schedule is empty; it begins with: world NAME"},
		{"no world", "seed 1\n", "no world line; a schedule begins with: world NAME"},
		{"no seed", "world w\n", "no seed line; after the world write: seed N"},
		{"binary", "\x89PNG\r\n\x1a\n", "line 1, column 1: byte 0x89 is not text: this is no schedule"},
		{"zero byte", head + "a\x00\n", "line 3, column 2: byte 0x00 is not text: this is no schedule"},
		{"cut short", head + "crash p life 1 after call put 1",
			"line 3: the last line does not end: the file was cut short (if not, add a line end)"},
		{"long line", head + long + "\n",
			"line 3: more than 1024 bytes in a line: this is no schedule"},
		{"many faults", many, "line 1003: more than 1000 faults"},
		{"long file", strings.Repeat("# comment\n", schedule.MaxFile/10+1),
			"more than 1048576 bytes: this is no schedule"},
		{"first line", "wrold w\n", `line 1, column 1: "wrold" (did you mean "world"?) ` +
			`begins no schedule; the first line must be: world NAME`},
		{"fault first", "lose p life 1 call put 1\n",
			"line 1, column 1: the first line must be: world NAME"},
		{"two worlds", head + "world v\n",
			"line 3, column 1: a second world line; the first is line 1"},
		{"late header", head + "lose p life 1 call put 1\ndigest 0123456789abcdef\n",
			"line 4, column 1: header lines stand before the first fault: move digest up"},
		{"bad name", "world a&b\nseed 1\n", `line 1, column 7: "a&b" should be the name of ` +
			`a world (at most 128 letters, digits, - . _ /); write: world NAME`},
		{"bad seed", "world w\nseed -1\n", `line 2, column 6: "-1" should be a whole number ` +
			`from 0 to 18446744073709551615; write: seed N`},
		{"bad digest", head + "digest 0123456789ABCDEF\n", `line 3, column 8: ` +
			`"0123456789ABCDEF" should be 16 hex digits in lower case; write: digest HEX16`},
		{"header words", "world w v\n",
			`line 1, column 9: "v" is one word too many; write: world NAME`},
		{"same twice", head + "lose p life 1 call put 1\nlose p life 1 call put 1 \n",
			"line 4: the same fault stands twice: lose p life 1 call put 1"},
	})
}

func TestParseRefusesFaults(t *testing.T) {
	const usage = "; write: crash PROC life N before|after KIND OP N"
	refuse(t, []refusal{
		{"verb", head + "crush p life 1 before call put 1\n",
			`line 3, column 1: no fault begins with "crush" (did you mean "crash"?); ` +
				`write one of crash, database, delay, error, lose, outage, pause, stop`},
		{"side", head + "crash p life 1 later call put 1\n",
			`line 3, column 16: "later" should be before or after (did you mean "after"?)` + usage},
		{"kind", head + "crash p life 1 after requset Produce 1\n",
			`line 3, column 22: "requset" should be request, reply, call or return ` +
				`(did you mean "request"?)` + usage},
		{"life", head + "crash p life 0 after call put 1\n", `line 3, column 14: "0" should ` +
			`be the number of a life, a whole number from 1 to 1000000000` + usage},
		{"nth", head + "crash p life 1 after call put #2\n", `line 3, column 31: "#2" should ` +
			`be an occurrence, a whole number from 1 to 1000000000` + usage},
		{"no nth", head + "crash p life 1 after call put # 2\n", "line 3, column 30: the line " +
			"ends where an occurrence should stand" + usage},
		{"plus", head + "crash p life +1 after call put 1\n", `line 3, column 14: "+1" should ` +
			`be the number of a life, a whole number from 1 to 1000000000` + usage},
		{"duration", head + "pause p life 1 at call put 1 for 25h\n", `line 3, column 34: "25h" ` +
			`should be a duration above 0 and up to 24h, such as 60s or 1500ms; ` +
			`write: pause PROC life N at KIND OP N for DURATION`},
		{"kafka code", head + "error p life 1 reply Produce 1 NOT_ENOUGH_REPLICA\n",
			`line 3, column 32: "NOT_ENOUGH_REPLICA" should be a Kafka error name such as ` +
				`REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS_AFTER_APPEND, NOT_LEADER_FOR_PARTITION ` +
				`(did you mean "NOT_ENOUGH_REPLICAS"?); write: error PROC life N KIND OP N CODE`},
		{"store code", head + "error p life 1 call put 1 NOT_COORDINATOR\n",
			`line 3, column 27: "NOT_COORDINATOR" should be a store error word such as ` +
				`unavailable, throttled, internal, conflict, precondition, denied; ` +
				`write: error PROC life N KIND OP N CODE`},
		{"no-break space", head + "lose p\u00a0 life 1 call put 1\n",
			`line 3, column 6: "p\u00a0" should be the name of a process ` +
				`(at most 128 letters, digits, - . _ /); write: lose PROC life N KIND OP N`},
	})
}

func refuse(t *testing.T, refused []refusal) {
	t.Helper()
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			got, err := schedule.Parse(strings.NewReader(tt.in))
			if err == nil {
				t.Fatalf("no error, but\n%s", got)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
			var pe *schedule.ParseError
			if !errors.As(err, &pe) {
				t.Errorf("the error is a %T, want a *ParseError", err)
			}
		})
	}
}

func TestParsePassesReadErrorsOn(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := schedule.Parse(iotest.ErrReader(broken))
	if !errors.Is(err, broken) {
		t.Errorf("Parse: %v, want the error of the reader", err)
	}
}

func TestParseFault(t *testing.T) {
	for _, in := range []string{"", "# crash", "world w", "lose p\x00", "crash p"} {
		if f, err := schedule.ParseFault(in); err == nil || f != nil {
			t.Errorf("ParseFault(%q) = %v, %v; want an error and no fault", in, f, err)
		}
	}
	f := schedule.MustFault("crash landing/0 life 2 after reply Produce 3 # why")
	at := schedule.Point{Proc: "landing/0", Life: 2, Kind: "reply", Op: "Produce", Nth: 3}
	if f.At() != at || f.Action() != (schedule.Action{Do: schedule.Kill, After: true}) {
		t.Errorf("got %v with %+v", f.At(), f.Action())
	}
	if got := at.String(); got != "landing/0 life 2 reply Produce 3" {
		t.Errorf("Point.String: %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("MustFault did not panic on a wrong line")
		}
	}()
	schedule.MustFault("crash")
}

// TestDrawnComesBack: whatever can be drawn prints as text that parses back to it.
func TestDrawnComesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := schedule.Schedule{World: "w", Seed: rapid.Uint64().Draw(rt, "seed"),
			Faults: schedule.Draw(chooser{rt}, alphabet(), schedule.Options{MaxFaults: 9})}
		got, err := schedule.Parse(strings.NewReader(s.String()))
		if err != nil {
			rt.Fatalf("%v\n%s", err, s)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			rt.Fatal(diff)
		}
		for i, f := range got.Faults {
			if f != s.Faults[i] {
				rt.Fatalf("%v came back as another value", f)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(manual)
	f.Add("world w\nmutant m\nseed 18446744073709551615\nstop p life 1 at call put 1\n")
	f.Add("world w\nseed 1\ndelay p life 1 call put 1 by .000000001h # so\n\n#\n")
	f.Add("world \xff\n")
	f.Add("world w\nseed 1\nerror p life 1 request Produce 1 NOT_LEADER_OR_FOLLOWER\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schedule.Parse(strings.NewReader(text))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x00") || len(err.Error()) > 1000 {
				t.Fatalf("the error is not one readable line: %q", err)
			}
			return
		}
		printed := s.String()
		again, err := schedule.Parse(strings.NewReader(printed))
		if err != nil {
			t.Fatalf("what was printed does not parse: %v\n%s", err, printed)
		}
		if got := again.String(); got != printed {
			t.Fatalf("printed\n%s\nthen\n%s", printed, got)
		}
	})
}
