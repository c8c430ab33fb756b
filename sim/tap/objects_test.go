package tap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
)

// shelf is a store of one object, "k", that counts the calls that reached it.
type shelf struct {
	mu      sync.Mutex
	body    string // "" for no object
	applied int
	err     error         // if set, what every call returns once it was applied
	hold    chan struct{} // if set, calls wait for it
}

func (s *shelf) apply(ctx context.Context, do func()) error {
	if s.hold != nil {
		<-s.hold
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied++
	if s.err == nil {
		do()
	}
	return s.err
}

func (s *shelf) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied
}

func (s *shelf) Put(ctx context.Context, _ string, body []byte) (string, error) {
	err := s.apply(ctx, func() { s.body = string(body) })
	return "tag-" + string(body), err
}

func (s *shelf) PutIf(ctx context.Context, _ string, body []byte, etag string) (
	ok bool, tag string, err error,
) {
	err = s.apply(ctx, func() {
		if s.body == strings.TrimPrefix(etag, "tag-") {
			ok, tag, s.body = true, "tag-"+string(body), string(body)
		}
	})
	return ok, tag, err
}

func (s *shelf) Get(ctx context.Context, _ string) (body []byte, tag string, err error) {
	missing := error(nil)
	err = s.apply(ctx, func() {
		if s.body == "" {
			missing = fmt.Errorf("object k: %w", fs.ErrNotExist)
			return
		}
		body, tag = []byte(s.body), "tag-"+s.body
	})
	return body, tag, errors.Join(err, missing)
}

func (s *shelf) List(ctx context.Context, _, _ string, _ int) (keys []string, err error) {
	err = s.apply(ctx, func() { keys = []string{"k", "l"} })
	return keys, err
}

func (s *shelf) Delete(ctx context.Context, _ string) error {
	return s.apply(ctx, func() { s.body = "" })
}

// describeTest says that an object holds the record 4 of a/0.
func describeTest(key string, body []byte) ([]model.Part, []model.Count) {
	p := model.PartOf("a", 0)
	p.Records = []model.Record{{Offset: 4, ID: string(body)}}
	return []model.Part{p}, nil
}

// calls are the five calls as a hop makes them; what they return as text.
var calls = []struct {
	op   string
	call func(context.Context, *Objects) (string, error)
	want string // what it returns when all goes well
	says string // what its events say
	adds string // what its return says more
}{
	{"put", func(ctx context.Context, o *Objects) (string, error) {
		return o.Put(ctx, "k", []byte("new"))
	}, "tag-new", "key=k digest=11507a0e2f5e69d5", "etag=tag-new"},
	{"putif", func(ctx context.Context, o *Objects) (string, error) {
		ok, tag, err := o.PutIf(ctx, "k", []byte("new"), "tag-old")
		return fmt.Sprint(ok, " ", tag), err
	}, "true tag-new", "key=k digest=11507a0e2f5e69d5", "etag=tag-new"},
	{"get", func(ctx context.Context, o *Objects) (string, error) {
		body, tag, err := o.Get(ctx, "k")
		return string(body) + " " + tag, err
	}, "old tag-old", "key=k", "digest=cba06b5736faf67e etag=tag-old"},
	{"list", func(ctx context.Context, o *Objects) (string, error) {
		keys, err := o.List(ctx, "pre", "a", 10)
		return strings.Join(keys, " "), err
	}, "k l", "key=pre", `note="2 keys"`},
	{"delete", func(ctx context.Context, o *Objects) (string, error) {
		return "", o.Delete(ctx, "k")
	}, "", "key=k", ""},
}

// pending is a call that a hop waits for.
type pending struct {
	gate   *script
	store  *shelf
	life   *Life
	result chan string
	cancel context.CancelFunc
}

func begin(
	t *testing.T, store *shelf, call func(context.Context, *Objects) (string, error),
) *pending {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	gate := newScript()
	p := &pending{gate: gate, store: store, result: make(chan string, 1), cancel: cancel}
	p.life = NewLife("p/0", 1, gate, newTestNames())
	o := NewObjects(p.life, store, describeTest)
	go func() {
		got, err := call(ctx, o)
		if err != nil {
			got = strings.TrimSpace(strings.TrimPrefix(got, "false")) + "! " + err.Error()
		}
		p.result <- got
	}()
	return p
}

// returns wants the call to have come back by now; "" for one that still waits.
func (p *pending) returns(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	got := "still waits"
	select {
	case got = <-p.result:
	default:
	}
	if got != want {
		t.Errorf("the call returned %q, not %q", got, want)
	}
}

const stillWaits = "still waits"

// callVerdicts are what can become of a call and of its return. The texts have the
// method's own in place of a percent sign.
var callVerdicts = []struct {
	name            string
	asked, answered *Verdict // answered nil: no return comes
	applied         int
	says            string // what the return's event says
	want            string
}{
	{"pass", &Verdict{}, &Verdict{}, 1, "done", "%"},
	{"lose call", &Verdict{Do: Lose}, nil, 0, "", "! " + ErrLost.Error()},
	{"lose return", &Verdict{}, &Verdict{Do: Lose}, 1, "done", "! " + ErrLost.Error()},
	{"answer call", &Verdict{Answer, "throttled"}, &Verdict{}, 0, "not-done err=throttled",
		"! tap: the store answered throttled"},
	{"answer call, lose that", &Verdict{Answer, "throttled"}, &Verdict{Do: Lose}, 0,
		"not-done err=throttled", "! " + ErrLost.Error()},
	{"answer return", &Verdict{}, &Verdict{Answer, "internal"}, 1, "done",
		"! tap: the store answered internal"},
	{"drop call", &Verdict{Do: Drop}, nil, 0, "", "! " + ErrDead.Error()},
	{"drop return", &Verdict{}, &Verdict{Do: Drop}, 1, "done", "! " + ErrDead.Error()},
}

func TestObjects(t *testing.T) {
	for _, c := range calls {
		for _, v := range callVerdicts {
			t.Run(c.op+"/"+v.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := begin(t, &shelf{body: "old"}, c.call)
					p.returns(t, stillWaits)
					asked := p.gate.settle(*v.asked)
					words := []string{"call", c.op, c.says}
					if c.op == "putif" {
						words = append(words, "etag=tag-old")
					}
					sameWords(t, asked.Event, c.op, words...)
					if v.answered != nil {
						p.returns(t, stillWaits)
						answer := p.gate.next()
						words := []string{"return", c.op, v.says, c.says}
						switch {
						case v.says == "done":
							words = append(words, c.adds)
						case c.op == "putif":
							words = append(words, "etag=tag-old")
						}
						sameWords(t, answer.Event, c.op, words...)
						if answer.Answers != asked || answer.Stream != asked.Stream {
							t.Errorf("the return is %+v", answer)
						}
						answer.Settle(*v.answered)
					}
					p.returns(t, strings.ReplaceAll(v.want, "%", c.want))
					if got := p.store.count(); got != v.applied {
						t.Errorf("applied %d times, not %d", got, v.applied)
					}
					p.gate.idle(t)
				})
			})
		}
	}
}

// sameWords compares events word by word, since their order is that of the text form.
// A write also says which records the object holds.
func sameWords(t *testing.T, e model.Event, op string, want ...string) {
	t.Helper()
	if strings.HasPrefix(op, "put") {
		want = append(want, "[a/0 {@4 id=new}]")
	}
	got := strings.Fields(said(e))
	want = strings.Fields(strings.Join(want, " "))
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the event of %s (-want +got):\n%s", op, diff)
	}
}

// TestObjectsRefusedConditions: a condition that refuses is an answer, wherever it
// comes from.
func TestObjectsRefusedConditions(t *testing.T) {
	putIf := func(ctx context.Context, o *Objects) (string, error) {
		ok, tag, err := o.PutIf(ctx, "k", []byte("new"), "tag-other")
		return fmt.Sprint(ok, " ", tag), err
	}
	precondition := Verdict{Answer, "precondition"}
	for _, x := range []struct {
		name            string
		asked, answered Verdict
		says            string
	}{
		{"by the store", Verdict{}, Verdict{}, "return putif not-done err=precondition key=k digest=11507a0e2f5e69d5 [a/0 {@4 id=new}]"},
		{"by a fault at the call", precondition, Verdict{}, "return putif not-done err=precondition key=k digest=11507a0e2f5e69d5 etag=tag-other [a/0 {@4 id=new}]"},
		{"by a fault at the return", Verdict{}, precondition, "return putif not-done err=precondition key=k digest=11507a0e2f5e69d5 [a/0 {@4 id=new}]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := begin(t, &shelf{body: "old"}, putIf)
			p.gate.settle(x.asked)
			c := p.gate.settle(x.answered)
			if diff := cmp.Diff(x.says, said(c.Event)); diff != "" {
				t.Errorf("%s: the return (-want +got):\n%s", x.name, diff)
			}
			p.returns(t, "false ")
		})
	}
}

// TestObjectsErrors: what the store says, to the history and to the hop.
func TestObjectsErrors(t *testing.T) {
	for _, x := range []struct {
		name, says, want string
		store            *shelf
		call             int // index of calls
	}{
		{"nothing there", "return get done err=not-found key=k", "! object k: file does not exist", &shelf{}, 2},
		{"put broke", `return put unknown err="reset by peer" key=k digest=11507a0e2f5e69d5 etag=tag-new [a/0 {@4 id=new}]`, "! reset by peer", &shelf{err: errors.New("reset by peer")}, 0},
		{"put refused", "return put not-done err=throttled key=k digest=11507a0e2f5e69d5 etag=tag-new [a/0 {@4 id=new}]", "! tap: the store answered throttled", &shelf{err: &Refused{"throttled"}}, 0},
		{"list broke", `return list unknown err="reset by peer" key=pre note="0 keys"`, "! reset by peer", &shelf{err: errors.New("reset by peer")}, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := begin(t, x.store, calls[x.call].call)
			p.gate.pass()
			c := p.gate.pass()
			if diff := cmp.Diff(x.says, said(c.Event)); diff != "" {
				t.Errorf("%s: the return (-want +got):\n%s", x.name, diff)
			}
			p.returns(t, x.want)
		})
	}
}

// TestObjectsGivenUp: a hop that stops waiting gets its context's error, the call may
// be applied later all the same, and what it came back with finds nobody.
func TestObjectsGivenUp(t *testing.T) {
	for _, c := range calls {
		t.Run(c.op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := begin(t, &shelf{body: "old", hold: make(chan struct{})}, c.call)
				asked := p.gate.next()
				p.returns(t, stillWaits)
				p.cancel()
				p.returns(t, "! context canceled")
				if asked.Gone() {
					t.Error("the call is gone: it may still arrive")
				}
				asked.Settle(Verdict{})
				close(p.store.hold)
				answer := p.gate.next()
				if !answer.Gone() || p.store.count() != 1 {
					t.Errorf("gone: %v, applied %d times", answer.Gone(), p.store.count())
				}
				answer.Settle(Verdict{Do: Drop})
			})
		})
	}
}

// TestObjectsGivenUpRace is for the race detector: the store returns while the hop
// gives up.
func TestObjectsGivenUpRace(t *testing.T) {
	for _, c := range calls {
		store := &shelf{body: "old", hold: make(chan struct{})}
		gate := passing()
		o := NewObjects(NewLife("p/0", 1, gate, newTestNames()), store, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go close(store.hold)
		go cancel()
		// Either is right: the answer, or the context's error.
		if got, err := c.call(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %q, %v", c.op, got, err)
		}
		for range 2 {
			gate.next()
		}
	}
}

// TestObjectsAnsweredAndGivenUp: an answer that is there counts, though the context
// ended too. Both channels of the select are ready; a draw would make runs differ.
func TestObjectsAnsweredAndGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		gate := newScript()
		gate.auto = &Verdict{Do: Lose} // settled before the caller looks
		o := NewObjects(NewLife("p/0", 1, gate, newTestNames()), &shelf{}, nil)
		if _, err := o.Put(ctx, "k", nil); !errors.Is(err, ErrLost) {
			t.Fatalf("the call returned %v, not that it was lost", err)
		}
	}
}

// TestObjectsOfTheDead: calls have no effect, and an endless loop of them is ended.
func TestObjectsOfTheDead(t *testing.T) {
	gate, store := newScript(), &shelf{body: "old"}
	life := NewLife("p/0", 1, gate, newTestNames())
	o := NewObjects(life, store, nil)
	life.Sever()
	count, unwound := 0, make(chan bool)
	go func() {
		defer func() { unwound <- recover() == nil }()
		for {
			for _, c := range calls {
				if _, err := c.call(t.Context(), o); !errors.Is(err, ErrDead) {
					t.Errorf("%s of a dead process: %v", c.op, err)
				}
				count++
			}
		}
	}()
	if !<-unwound || count != deadCalls {
		t.Errorf("the loop ended after %d calls, not %d", count, deadCalls)
	}
	if store.count() != 0 {
		t.Errorf("%d calls of a dead process were applied", store.count())
	}
	gate.idle(t)
}
