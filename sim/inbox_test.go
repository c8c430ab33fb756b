package sim

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// noteGate keeps notes: nothing else crosses a boundary here.
type noteGate struct {
	mu    sync.Mutex
	notes []string
}

func (g *noteGate) Submit(*tap.Crossing) { panic("no crossing is expected") }

func (g *noteGate) Note(l *tap.Life, e model.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	words := []string{fmt.Sprint(l.Number), e.Op, e.Parts[0].Records[0].ID, string(e.Outcome)}
	g.notes = append(g.notes, strings.TrimSpace(strings.Join(words, " ")))
}

// counter is the asks of one run and when it began.
type counter struct {
	t     *testing.T
	gate  *noteGate
	asks  *asks
	start time.Time
}

func newCounter(t *testing.T, replicas int, list ...Ask) *counter {
	start := time.Now()
	asks := newAsks(start, list, []Process{{Name: "p", Replicas: replicas}})
	return &counter{t: t, gate: &noteGate{}, asks: asks, start: start}
}

func (c *counter) inbox(number, replica int) *Inbox {
	life := tap.NewLife(fmt.Sprintf("p/%d", replica), number, c.gate, tap.NewNames(nil))
	return &Inbox{asks: c.asks, life: life}
}

// next wants this ask to come at this time; "" when there must be none.
func (c *counter) next(i *Inbox, id string, at time.Duration) Ask {
	c.t.Helper()
	ask, ok := i.Next(c.t.Context())
	if took := time.Since(c.start); ask.ID != id || ok != (id != "") || took != at {
		c.t.Errorf("the inbox gave %q, %v at %s, not %q at %s", ask.ID, ok, took, id, at)
	}
	return ask
}

func (c *counter) noted(want ...string) {
	c.t.Helper()
	if diff := cmp.Diff(want, c.gate.notes); diff != "" {
		c.t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// TestInboxInTime: asks come when they are due, and there is no more once all are done.
func TestInboxInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 1, Ask{ID: "a", At: time.Second, Key: []byte("k")},
			Ask{ID: "b", At: time.Minute}, Ask{ID: "c", At: time.Second})
		i := c.inbox(1, 0)
		a := c.next(i, "a", time.Second)
		if string(a.Key) != "k" {
			t.Errorf("the ask came without its key: %+v", a)
		}
		second := c.next(i, "c", time.Second)
		i.Answer(a, model.Done)
		i.Answer(second, model.Done)
		b := c.next(i, "b", time.Minute)
		if c.asks.idle() {
			t.Error("an ask that was not answered counts as done")
		}
		i.Answer(b, model.Done)
		c.next(i, "", time.Minute)
		if !c.asks.idle() {
			t.Error("all asks are done, and it is not idle")
		}
		i.Answer(b, model.Done) // nobody asks
		c.noted("1 ask a", "1 ask c", "1 answer a done", "1 answer c done", "1 ask b",
			"1 answer b done")
	})
}

// TestInboxAsksAgain: an answer that is not "done" is followed by the same ask, and
// Again asks once more after a done answer.
func TestInboxAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 1, Ask{ID: "a", Again: true})
		i := c.inbox(1, 0)
		at := time.Duration(0)
		for _, x := range []struct {
			answer model.Outcome
			after  time.Duration
		}{
			{model.NotDone, askAfterRefuse}, {model.Unknown, askAfterRefuse},
			{model.Done, askAgain}, {model.NotDone, askAfterRefuse},
		} {
			i.Answer(c.next(i, "a", at), x.answer)
			at += x.after
		}
		i.Answer(c.next(i, "a", at), model.Done)
		c.next(i, "", at)
	})
}

// TestInboxOfTheDead: a caller whose process died asks the next life, and does not hear
// what the dead one still says.
func TestInboxOfTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 1, Ask{ID: "a"}, Ask{ID: "b"}, Ask{ID: "c", At: time.Hour})
		first := c.inbox(1, 0)
		a := c.next(first, "a", 0)
		b := c.next(first, "b", 0)
		waiting := make(chan bool)
		go func() {
			_, ok := first.Next(t.Context())
			waiting <- ok
		}()
		synctest.Wait()
		first.Answer(b, model.Done)
		first.life.Sever()
		c.asks.orphan(first.life)
		if <-waiting {
			t.Error("a dead process was asked")
		}
		c.next(first, "", 0)
		first.Answer(a, model.Done)

		second := c.inbox(2, 0)
		again := c.next(second, "a", askAfterDeath)
		first.Answer(a, model.Done) // now that somebody else works on it, too
		second.Answer(again, model.Done)
		second.Answer(c.next(second, "c", time.Hour), model.Done)
		c.next(second, "", time.Hour)
		c.noted("1 ask a", "1 ask b", "1 answer b done", "2 ask a", "2 answer a done",
			"2 ask c", "2 answer c done")
	})
}

// TestInboxContext: a process that is asked to stop is asked nothing more.
func TestInboxContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 1, Ask{ID: "a", At: time.Hour})
		i := c.inbox(1, 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if ask, ok := i.Next(ctx); ok || time.Since(c.start) != time.Second {
			t.Errorf("after %s: %+v, %v", time.Since(c.start), ask, ok)
		}
		c.next(i, "a", time.Hour) // it is still there
	})
}

// TestInboxReplicas: who is asked does not depend on who is first, and nobody waits for
// what another replica is asked.
func TestInboxReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 2, Ask{ID: "a"}, Ask{ID: "b", At: time.Second}, Ask{ID: "c"})
		one, two := c.inbox(1, 0), c.inbox(1, 1)
		b := c.next(two, "b", time.Second)
		a, third := c.next(one, "a", time.Second), c.next(one, "c", time.Second)
		left := make(chan bool)
		go func() {
			_, ok := two.Next(t.Context())
			left <- ok
		}()
		two.Answer(b, model.Done)
		one.Answer(a, model.Done)
		two.Answer(third, model.Done) // not two's to answer
		synctest.Wait()
		if c.asks.idle() {
			t.Error("an ask was answered by who was not asked")
		}
		one.Answer(third, model.Done)
		if <-left {
			t.Error("an ask came to who was not asked")
		}
	})
}

// TestInboxConcurrently has many goroutines of one process share an inbox.
func TestInboxConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list []Ask
		for n := range 50 {
			list = append(list, Ask{ID: fmt.Sprint(n), At: time.Duration(n%7) * time.Second})
		}
		c := newCounter(t, 1, list...)
		i := c.inbox(1, 0)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for {
					ask, ok := i.Next(t.Context())
					if !ok {
						return
					}
					i.Answer(ask, model.Done)
				}
			})
		}
		all.Wait()
		if !c.asks.idle() || len(c.gate.notes) != 2*len(list) {
			t.Errorf("idle: %v, %d notes", c.asks.idle(), len(c.gate.notes))
		}
	})
}
