//go:build synctests

package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/database"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// clerk does what it is asked in a database, one transaction each.
func clerk(ctx context.Context, env sim.Env) error {
	for {
		ask, ok := env.Inbox.Next(ctx)
		if !ok {
			return nil
		}
		outcome := model.Done
		if err := enrollOnce(ctx, env.Database, string(ask.Key), string(ask.Value)); err != nil {
			outcome = model.Unknown
		}
		env.Inbox.Answer(ask, outcome)
	}
}

func enrollOnce(ctx context.Context, db tap.Database, key, op string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	learner, course, _ := strings.Cut(key, "/")
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	err = db.Enroll(ctx, tx, learner, course, op)
	if err == nil {
		err = db.Publish(ctx, tx, learner, course, op)
	}
	if err == nil {
		return db.Commit(ctx, tx)
	}
	// The context may be over; what is rolled back twice is rolled back.
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer stop()
	return errors.Join(err, db.Rollback(end, tx))
}

// postman publishes the outbox.
func postman(ctx context.Context, env sim.Env) error { return posts(ctx, env, false) }

// hastyPostman marks before it publishes.
func hastyPostman(ctx context.Context, env sim.Env) error { return posts(ctx, env, true) }

func posts(ctx context.Context, env sim.Env, markFirst bool) error {
	return produces(env, func(produce func(key string, value []byte) error) error {
		for ctx.Err() == nil {
			claim, keys, values, err := env.Database.Claim(ctx, 10)
			if err != nil {
				return err
			}
			if claim == 0 {
				pause(ctx, 700*time.Millisecond)
				continue
			}
			if markFirst {
				if err := env.Database.Mark(ctx, claim); err != nil {
					return err
				}
			}
			for i := range keys {
				if err := produce(keys[i], values[i]); err != nil {
					return err // the claim goes with this life
				}
			}
			if markFirst {
				continue
			}
			if err := env.Database.Mark(ctx, claim); err != nil {
				return err
			}
		}
		return nil
	}, "outbox")
}

// streamer publishes the log, and confirms what was acknowledged.
func streamer(ctx context.Context, env sim.Env) error { return streams(ctx, env, false) }

// hastyStreamer confirms before it publishes.
func hastyStreamer(ctx context.Context, env sim.Env) error { return streams(ctx, env, true) }

func streams(ctx context.Context, env sim.Env, confirmFirst bool) error {
	return produces(env, func(produce func(key string, value []byte) error) error {
		for ctx.Err() == nil {
			err := env.Database.Stream(ctx, "")
			for err == nil {
				var lsn, key string
				var value []byte
				lsn, key, value, err = env.Database.Next(ctx)
				if err == nil && confirmFirst {
					err = env.Database.Confirm(ctx, lsn)
				}
				if err == nil && key != "" {
					err = produce(key, value)
				}
				if err == nil && !confirmFirst {
					err = env.Database.Confirm(ctx, lsn)
				}
			}
			pause(ctx, time.Second)
		}
		return nil
	}, "log")
}

func produces(
	env sim.Env, run func(produce func(key string, value []byte) error) error, topic string,
) error {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.DefaultProduceTopic(topic), kgo.RecordDeliveryTimeout(20 * time.Second),
	}, env.Kafka...)...)
	if err != nil {
		return err
	}
	defer client.Close()
	return run(func(key string, value []byte) error {
		ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
		defer cancel()
		return client.ProduceSync(ctx, &kgo.Record{Key: []byte(key), Value: value}).FirstErr()
	})
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func sourceOf(r tap.Raw) (string, model.Position) {
	var v struct {
		LSN string `json:"source_lsn"`
	}
	if json.Unmarshal(r.Value, &v) != nil {
		return "", model.Position{}
	}
	return v.LSN, model.Position{}
}

// office is a world with a database in which all of this goes on.
func office() sim.World {
	return sim.World{
		Name:   "office",
		Says:   "clerks enroll, and two postmen and two streamers publish what they did",
		Topics: []sim.Topic{{Name: "outbox", Partitions: 1}, {Name: "log", Partitions: 1}},
		Processes: []sim.Process{
			{Name: "clerk", Replicas: 2, Run: clerk},
			{Name: "postman", Replicas: 2, Run: postman},
			{Name: "streamer", Replicas: 2, Run: streamer},
		},
		Asks: func(rng *rand.Rand) []sim.Ask {
			var asks []sim.Ask
			for i := range 16 {
				asks = append(asks, sim.Ask{
					At: time.Duration(i/4) * 2 * time.Second, ID: fmt.Sprintf("ask-%02d", i),
					Key:   fmt.Appendf(nil, "l%d/c%d", rng.IntN(2), rng.IntN(2)),
					Value: []byte([]string{"enrolled", "dropped"}[rng.IntN(2)]),
				})
			}
			return asks
		},
		Database: func() *database.DB { return database.New(database.Config{}) },
		Identify: sourceOf,
		Promises: []props.Property{arrived},
		Drained: func(v *model.View) bool {
			return v.Unpublished() == 0 && v.Confirmed() >= v.LastChange()
		},
	}
}

// arrived is the promise of the office, and checks that the audit says the same
// of the database as the events of its calls do.
var arrived = props.Property{
	Name: "arrived/office", Says: "What the database has committed is in both topics.",
	Check: func(h *model.History) []props.Broken {
		a := model.Audit(h)
		there := map[string]map[string]bool{}
		for _, topic := range []string{"outbox", "log"} {
			there[topic] = map[string]bool{}
			for _, p := range a.Topic(topic) {
				for _, r := range p.Records {
					there[topic][r.ID] = true
				}
			}
		}
		var broken []props.Broken
		breaks := func(seq int64, format string, args ...any) {
			broken = append(broken, props.Broken{
				Witness: fmt.Sprintf(format, args...), Seqs: []int64{seq},
			})
		}
		for _, r := range a.Outbox {
			if !r.Published || !there["outbox"][r.Source] {
				breaks(r.Seq, "row %d is marked %v, in the topic: %v",
					r.ID, r.Published, there["outbox"][r.Source])
			}
		}
		last := map[string]string{}
		for _, e := range h.Events() {
			if e.Kind != model.Return || e.Op != "commit" || e.Err != "" {
				continue
			}
			for _, r := range e.Parts[0].Records {
				last[r.Key] = max(last[r.Key], r.ID)
				if !there["log"][r.ID] {
					breaks(e.Seq, "the change of %s at %s is not in the topic", r.Key, r.ID)
				}
			}
		}
		for _, r := range a.Rows {
			if r.LSN != last[r.Key] {
				breaks(r.Seq, "%s was changed last at %s, not at %s", r.Key, r.LSN, last[r.Key])
			}
		}
		if a.Slot.State != "reserved" || len(a.Rows) == 0 || len(a.Outbox) < 16 {
			breaks(a.Slot.Seq, "the slot is %+v, %d rows", a.Slot, len(a.Outbox))
		}
		return broken
	},
	Holds: "1 0s - heal\n", Breaks: "1 0s - heal\n",
}

// TestOffice plays every single fault at an early occurrence of each database call, and
// what the server can do: the world drains, nothing is lost, and a second run of the
// same schedule is the same.
func TestOffice(t *testing.T) {
	w := office()
	scout := under(t, w)
	if !scout.Drained || len(scout.Broken) > 0 {
		t.Fatalf("without faults: drained %v, broken %v", scout.Drained, scout.Broken)
	}
	ops := map[string]bool{}
	runs := 0
	for f := range schedule.Enumerate(schedule.Observe(scout.History), nil) {
		p := f.At()
		store := p.Kind == model.Call || p.Kind == model.Return
		if p.Life > 1 || p.Nth > 1 || !strings.HasSuffix(p.Proc, "/0") || !store {
			continue
		}
		ops[string(p.Kind)+" "+p.Op] = true
		runs++
		res := under(t, w, f.String())
		if !res.Drained || len(res.Broken) > 0 {
			t.Errorf("%s: drained %v, broken %v", f, res.Drained, res.Broken)
		}
		if runs%7 == 0 {
			again := under(t, w, f.String())
			if diff := cmp.Diff(lines(t, res.History), lines(t, again.History)); diff != "" {
				t.Fatalf("%s: a second run differs (-first +second):\n%s", f, diff)
			}
		}
	}
	t.Logf("%d runs", runs)
	for _, op := range []string{
		"begin", "claim", "commit", "confirm", "enroll", "mark", "next", "publish", "stream",
	} {
		if !ops["call "+op] || !ops["return "+op] {
			t.Errorf("no fault struck at %s", op)
		}
	}
}

// TestOfficeRandom is a campaign as a user runs one.
func TestOfficeRandom(t *testing.T) {
	sim.Check(t, office(), sim.Schedules(150))
}

// TestOfficeHasty: who marks or confirms before it has published loses changes, and the
// world says so.
func TestOfficeHasty(t *testing.T) {
	for _, x := range []struct {
		process int
		run     func(context.Context, sim.Env) error
		fault   string
	}{
		{1, hastyPostman, "crash postman/0 life 1 after call mark 1"},
		{2, hastyStreamer, "crash streamer/0 life 1 after call confirm 1"},
	} {
		w := office()
		if res := under(t, w, x.fault); len(res.Broken) > 0 {
			t.Errorf("%s breaks %v of the right one", x.fault, res.Broken)
		}
		w.Processes[x.process].Run = x.run
		res := under(t, w, x.fault)
		if len(res.Broken) == 0 || res.Broken[0].Promise != arrived.Name {
			t.Errorf("%s: broken %v", x.fault, res.Broken)
		}
	}
}

// TestOfficeCrash: everything that processes have open in a server that crashes is gone,
// the slot goes back, and the history says where to.
func TestOfficeCrash(t *testing.T) {
	const fault = "database clerk/0 life 1 at call commit 3 crashes"
	res := under(t, office(), fault)
	if !res.Drained || len(res.Broken) > 0 || len(res.Unfired) > 0 {
		t.Fatalf("drained %v, broken %v, unfired %v", res.Drained, res.Broken, res.Unfired)
	}
	struck, confirmed, commits := false, "", 0
	for _, e := range res.History.Events() {
		switch {
		case e.Kind == model.Fault:
			struck = true
			if e.LSN == "" || e.LSN >= confirmed {
				t.Errorf("the slot went from %s to %s", confirmed, e.LSN)
			}
		case e.Kind == model.Return && e.Op == "confirm" && !struck:
			confirmed = e.LSN
		case e.Kind == model.Return && e.Op == "commit" && e.Proc == "clerk/0" && e.Nth == 3:
			commits++
			if e.Outcome != model.Unknown || e.Err == "" {
				t.Errorf("the commit that the crash came before is %s", text(e))
			}
		}
	}
	if !struck || commits != 1 || confirmed == "" {
		t.Errorf("struck %v, %d commits, confirmed %q", struck, commits, confirmed)
	}
}

// TestOfficeLosesSlot: a slot that is lost is in the audit, and the world does not drain.
func TestOfficeLosesSlot(t *testing.T) {
	res := under(t, office(), "database clerk/0 life 1 at call commit 3 loses-slot")
	if a := model.Audit(res.History); res.Drained || a.Slot.State != "missing" {
		t.Errorf("drained %v, the slot is %+v", res.Drained, a.Slot)
	}
}

// TestDeadSession: the claims and transactions of a life that is killed are free before
// the next one begins.
func TestDeadSession(t *testing.T) {
	res := under(t, office(),
		"crash postman/0 life 1 after return claim 1",
		"crash clerk/0 life 1 after return enroll 1")
	died := map[string]time.Duration{}
	for _, e := range res.History.Events() {
		if e.Kind == model.Crash {
			died[e.Proc] = e.At
		}
	}
	if !res.Drained || len(died) != 2 {
		t.Fatalf("drained %v, died %v", res.Drained, died)
	}
	for _, e := range events(res.History, "clerk/1", model.Return) {
		if e.Op == "enroll" && e.Err != "" {
			t.Errorf("the other clerk: %s", text(e))
		}
	}
}

// bank is a server of a program's own.
type bank struct{ charged, broke, over int }

func charges(ctx context.Context, env sim.Env) error {
	if env.Database != nil {
		return errors.New("a world without a database gave one")
	}
	bank := env.Outside.(*bank)
	env.OnEnd(func() { bank.over++ })
	return env.Call(ctx, tap.Call{
		Event: model.Event{Op: "charge", Key: "card-1"},
		Apply: func(context.Context, *model.Event) error { bank.charged++; return nil },
		Broke: func() { bank.broke++ },
	})
}

// TestOwnCall: a program's own call crosses the boundary like any other, and what a life
// has open outside ends with it.
func TestOwnCall(t *testing.T) {
	var b *bank
	w := sim.World{
		Name:      "caller",
		Outside:   func() any { b = new(bank); return b },
		Processes: []sim.Process{{Name: "caller", Run: charges}},
	}
	for _, x := range []struct {
		fault string
		want  bank
	}{
		{"lose caller/0 life 1 call charge 1", bank{1, 1, 2}}, // charged by the second life
		{"lose caller/0 life 1 return charge 1", bank{2, 1, 2}},
		{"error caller/0 life 1 call charge 1 unavailable", bank{1, 1, 2}},
		{"error caller/0 life 1 return charge 1 internal", bank{2, 1, 2}},
		{"crash caller/0 life 1 before call charge 1", bank{1, 1, 2}},
		{"crash caller/0 life 1 after call charge 1", bank{2, 1, 2}},
		{"delay caller/0 life 1 call charge 1 by 5s", bank{1, 0, 1}},
	} {
		res := under(t, w, x.fault)
		if *b != x.want || len(res.Unfired) > 0 {
			t.Errorf("%s: %+v, not %+v; unfired %v", x.fault, *b, x.want, res.Unfired)
		}
		if !slices.ContainsFunc(res.History.Events(), func(e model.Event) bool {
			return e.Kind == model.Call && e.Op == "charge" && e.Key == "card-1"
		}) {
			t.Errorf("%s: the history has no such call", x.fault)
		}
	}
}
