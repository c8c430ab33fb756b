package tap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// till is a database with one change, l/a, that counts what it is told.
type till struct {
	err     error // what every call returns once it was applied
	applied int
	dropped []uint64
}

func (d *till) apply() error { d.applied++; return d.err }

func (d *till) Begin(context.Context) (uint64, error) { return 3, d.apply() }

func (d *till) Enroll(context.Context, uint64, string, string, string) error { return d.apply() }

func (d *till) Publish(context.Context, uint64, string, string, string) error { return d.apply() }

func (d *till) Commit(context.Context, uint64) error { return d.apply() }

func (d *till) Rollback(context.Context, uint64) error { return d.apply() }

func (d *till) Claim(context.Context, int) (uint64, []string, [][]byte, error) {
	return 4, []string{"l/a"}, [][]byte{[]byte(tillValue)}, d.apply()
}

func (d *till) Mark(context.Context, uint64) error { return d.apply() }

func (d *till) Release(context.Context, uint64) error { return d.apply() }

func (d *till) Stream(context.Context, string) error { return d.apply() }

func (d *till) Next(context.Context) (lsn, key string, value []byte, err error) {
	return place(9, 1), "l/a", []byte(tillValue), d.apply()
}

func (d *till) Confirm(context.Context, string) error { return d.apply() }

func (d *till) Slot(context.Context) (state string, retained, lag int64, err error) {
	return "reserved", 20, 10, d.apply()
}

func (d *till) Committed(uint64) string { return place(9, 0) }

func (d *till) Rows(uint64) (ids []int64, lsns []string) {
	return []int64{7}, []string{place(8, 1)}
}

func (d *till) Confirmed() string { return place(5, 0) }

func (d *till) Drop(handle uint64) { d.dropped = append(d.dropped, handle) }

func place(lsn, nth int) string { return fmt.Sprintf("%016X/%08X", lsn, nth) }

var tillValue = `{"learner_id":"l","course_id":"a","op":"enrolled","source_lsn":"` + place(8, 1) + `"}`

// tillCalls are the calls with what their events say. In the texts, 5, 8 and 9 stand for
// the positions 5/0, 8/1 and 9/0, and 9.1 for 9/1.
var tillCalls = []struct {
	op           string
	call         func(context.Context, Database) (any, error)
	returns      string
	asks, answer string
	drops        string // when the answer is lost
}{
	{"begin", func(ctx context.Context, d Database) (any, error) { return d.Begin(ctx) },
		"3", "", `note="tx 3"`, "[3]"},
	{"enroll", func(ctx context.Context, d Database) (any, error) {
		return nil, d.Enroll(ctx, 3, "l", "a", "enrolled")
	}, "<nil>", `key=l/a [enrollment/0 {key=l/a cell=enrolled}] note="tx 3"`,
		`key=l/a [enrollment/0 {key=l/a cell=enrolled}] note="tx 3"`, "[3]"},
	{"publish", func(ctx context.Context, d Database) (any, error) {
		return nil, d.Publish(ctx, 3, "l", "a", "enrolled")
	}, "<nil>", `key=l/a [outbox/0 {key=l/a cell=enrolled}] note="tx 3"`,
		`key=l/a [outbox/0 {@7 id=8 key=l/a cell=enrolled}] note="tx 3"`, "[3]"},
	{"commit", func(ctx context.Context, d Database) (any, error) { return nil, d.Commit(ctx, 3) },
		"<nil>", `note="tx 3"`, `lsn=9 note="tx 3"`, "[3]"},
	{"rollback", func(ctx context.Context, d Database) (any, error) {
		return nil, d.Rollback(ctx, 3)
	}, "<nil>", `note="tx 3"`, `note="tx 3"`, "[3]"},
	{"claim", func(ctx context.Context, d Database) (any, error) {
		claim, keys, _, err := d.Claim(ctx, 5)
		return fmt.Sprint(claim, keys), err
	}, "4 [l/a]", "key=outbox",
		`key=outbox [outbox/0 {@7 id=8 key=l/a cell=enrolled}] note="claim 4"`, "[4]"},
	{"mark", func(ctx context.Context, d Database) (any, error) { return nil, d.Mark(ctx, 4) },
		"<nil>", `key=outbox note="claim 4"`, `key=outbox lsn=9 note="claim 4"`, "[4]"},
	{"release", func(ctx context.Context, d Database) (any, error) {
		return nil, d.Release(ctx, 4)
	}, "<nil>", `key=outbox note="claim 4"`, `key=outbox note="claim 4"`, "[4]"},
	{"stream", func(ctx context.Context, d Database) (any, error) { return nil, d.Stream(ctx, "") },
		"<nil>", "key=slot", "key=slot lsn=5", "[0]"},
	{"next", func(ctx context.Context, d Database) (any, error) {
		lsn, key, _, err := d.Next(ctx)
		return lsn + " " + key, err
	}, "9.1 l/a", "key=slot",
		"key=l/a lsn=9.1 [enrollment/0 {id=8 key=l/a cell=enrolled}]", "[0]"},
	{"confirm", func(ctx context.Context, d Database) (any, error) {
		return nil, d.Confirm(ctx, place(9, 0))
	}, "<nil>", "key=slot lsn=9", "key=slot lsn=9", "[0]"},
	{"slot", func(ctx context.Context, d Database) (any, error) {
		state, retained, lag, err := d.Slot(ctx)
		return fmt.Sprint(state, " ", retained, " ", lag), err
	}, "reserved 20 10", "key=slot", "key=slot (retained 20) (lag 10) note=reserved", "[]"},
}

// short puts the short names of positions into a text.
func short(s string) string {
	return strings.NewReplacer(place(5, 0), "5", place(8, 1), "8", place(9, 0), "9",
		place(9, 1), "9.1").Replace(s)
}

// ring makes a call of the till.
func ring(t *testing.T, d *till, call func(context.Context, Database) (any, error)) *pending {
	p := &pending{gate: newScript(), result: make(chan string, 1)}
	p.life = NewLife("p/0", 1, p.gate, newTestNames())
	db := NewDatabase(p.life, d)
	go func() {
		got, err := call(t.Context(), db)
		text := short(fmt.Sprint(got))
		if err != nil {
			text = "! " + err.Error()
		}
		p.result <- text
	}()
	return p
}

func TestDatabaseEvents(t *testing.T) {
	for _, c := range tillCalls {
		for _, v := range callVerdicts {
			t.Run(c.op+"/"+v.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := new(till)
					p := ring(t, d, c.call)
					asked := p.gate.settle(*v.asked)
					sentence(t, asked, "call "+c.op+" "+c.asks)
					dropped := "[]"
					if v.answered != nil {
						answer := p.gate.next()
						says := c.asks
						if v.says == "done" {
							says = c.answer
						}
						sentence(t, answer, "return "+c.op+" "+v.says+" "+says)
						answer.Settle(*v.answered)
					}
					p.returns(t, strings.ReplaceAll(v.want, "%", c.returns))
					if d.applied != v.applied {
						t.Errorf("applied %d times, not %d", d.applied, v.applied)
					}
					lost := v.asked.Do != Pass || v.answered != nil && v.answered.Do != Pass
					if lost {
						dropped = c.drops
					}
					if v.applied == 0 && lost && (c.op == "begin" || c.op == "claim") {
						dropped = fmt.Sprint([]uint64{noHandle}) // there is none to break
					}
					if v.name == "answer call, lose that" && dropped != "[]" {
						dropped = strings.ReplaceAll(dropped, "]", " "+dropped[1:])
					}
					if got := fmt.Sprint(d.dropped); got != dropped {
						t.Errorf("dropped %s, not %s", got, dropped)
					}
				})
			})
		}
	}
}

// sentence compares an event with a text in any order of its words.
func sentence(t *testing.T, c *Crossing, want string) {
	t.Helper()
	got, words := strings.Fields(short(said(c.Event))), strings.Fields(want)
	slices.Sort(got)
	slices.Sort(words)
	if diff := cmp.Diff(words, got); diff != "" {
		t.Errorf("the event (-want +got):\n%s", diff)
	}
}

// TestDatabaseRemembers: a commit says all that its transaction did, with the places
// that it gave the changes, and a mark which rows it is about.
func TestDatabaseRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := newScript()
		gate.auto = &Verdict{}
		d := NewDatabase(NewLife("p/0", 1, gate, newTestNames()), new(till))
		ctx := t.Context()
		for _, err := range []error{
			d.Enroll(ctx, 3, "l", "a", "enrolled"), d.Enroll(ctx, 5, "x", "y", "dropped"),
			d.Publish(ctx, 3, "l", "a", "enrolled"), d.Enroll(ctx, 3, "l", "b", "dropped"),
			d.Commit(ctx, 3), d.Rollback(ctx, 5), d.Commit(ctx, 5),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, _, _, err := d.Claim(ctx, 1); err != nil {
			t.Fatal(err)
		}
		if err := d.Mark(ctx, 4); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range gate.all {
			if e := c.Event; e.Kind == "return" && (e.Op == "commit" || e.Op == "mark") {
				got = append(got, strings.NewReplacer(place(9, 2), "9.2").Replace(short(said(e))))
			}
		}
		want := []string{
			`return commit done lsn=9 [enrollment/0 {id=9.1 key=l/a cell=enrolled} {id=9.2 key=l/b cell=dropped}] [outbox/0 {@7 id=8 key=l/a cell=enrolled}] note="tx 3"`,
			`return commit done lsn=9 note="tx 5"`,
			`return mark done key=outbox lsn=9 [outbox/0 {@7 id=8 key=l/a cell=enrolled}] note="claim 4"`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the returns (-want +got):\n%s", diff)
		}
	})
}

// refusal is an answer of a server.
type refusal struct{ error }

func (refusal) Refusal() string { return "slot-active" }

// TestDatabaseErrors: the server's answer is no unknown outcome; any other error is, and
// in neither case does the history say that something was done.
func TestDatabaseErrors(t *testing.T) {
	for _, x := range []struct {
		err  error
		says string
	}{
		{refusal{errors.New("in use")}, "return stream not-done err=slot-active key=slot"},
		{fmt.Errorf("beginning: %w", refusal{errors.New("in use")}),
			"return stream not-done err=slot-active key=slot"},
		{errors.New("reset"), "return stream unknown err=reset key=slot"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := ring(t, &till{err: x.err}, func(ctx context.Context, d Database) (any, error) {
				return nil, d.Stream(ctx, "")
			})
			p.gate.pass()
			c := p.gate.pass()
			if diff := cmp.Diff(x.says, said(c.Event)); diff != "" {
				t.Errorf("the return (-want +got):\n%s", diff)
			}
			p.returns(t, "! "+x.err.Error())
		})
	}
}

// TestDatabaseNoReads: what the database does not offer is said, and crosses nothing.
func TestDatabaseNoReads(t *testing.T) {
	gate := newScript()
	db := NewDatabase(NewLife("p/0", 1, gate, newTestNames()), new(till)).(DatabaseReads)
	_, _, _, after := db.After(t.Context(), 0, 1)
	_, _, _, _, horizon := db.Horizon(t.Context(), 0, 0, 1)
	_, _, _, claim := db.ClaimRows(t.Context(), 1)
	for _, err := range []error{after, horizon, claim} {
		if !errors.Is(err, ErrNoReads) {
			t.Errorf("it returned %v", err)
		}
	}
	if lsn := db.RowLSN(place(9, 1)); lsn != "" {
		t.Errorf("a row's position %q", lsn)
	}
	gate.idle(t)
}
