package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/cmd/live/audit"
	"github.com/hopcheck/hopcheck/cmd/live/proc"
	"github.com/hopcheck/hopcheck/cmd/live/stack"
	"github.com/hopcheck/hopcheck/cmd/live/target"
	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

// The times of a run.
const (
	// quiet is how long a drained world with faults that have not struck goes on, settle
	// at the end, so that what processes still have in hand gets done.
	quiet  = 10 * time.Second
	settle = time.Second
	// lookEvery is between two questions whether the world has drained.
	lookEvery = 500 * time.Millisecond
	lookIn    = 10 * time.Second // for an answer
	lastIn    = 2 * time.Minute  // for the last readers
	setupIn   = time.Minute
)

// Options say what is run. Every field is needed but Tell.
type Options struct {
	World    worlds.World
	Schedule schedule.Schedule
	Values   [][]byte // what flows in
	Rate     float64  // of it, in records a second
	ID       string
	Folder   Folder
	Target   target.Target
	Env      []string // of processes, beside this one's: credentials
	Self     string   // the program
	// Safety bounds the time in which faults strike, Liveness that in which the world must
	// drain after they end.
	Safety, Liveness time.Duration
	// Tell is told what is being done; nil tells nobody.
	Tell func(doing string)
}

// run is a run while it goes on.
type run struct {
	Options
	names  worlds.Names
	began  time.Duration
	client *kgo.Client
	reader *audit.Reader
	own    *proc.File // what the supervisor itself knows
	stack  *stack.Stack

	stopping chan struct{} // closed at the end
	healing  chan struct{} // closed when faults end
	healed   sync.Once
	outages  sync.WaitGroup

	mu       sync.Mutex
	lives    map[string]*life // by replica
	unfired  map[string]bool  // faults
	standing time.Time        // until when a fault holds something back
	feedErr  error
	fed      bool
	asks     *asks
}

// Run runs a world to its end and returns the run's folder, ready for [Judge]. An error
// means that the run could not take place or was interrupted. Nothing of it is running
// when Run returns; topics, groups and objects are there for the audit.
func Run(ctx context.Context, o Options) (err error) {
	r := &run{
		Options: o, names: worlds.Names{ID: o.ID}, stopping: make(chan struct{}),
		healing: make(chan struct{}), lives: make(map[string]*life),
		unfired: make(map[string]bool), began: proc.Now(),
	}
	for _, f := range o.Schedule.Faults {
		r.unfired[f.String()] = true
	}
	m := Manifest{
		ID: o.ID, World: o.World.Name, Target: o.Target, Began: r.began, Since: time.Now(),
	}
	if err := r.connect(ctx); err != nil {
		return err // nothing is made yet
	}
	defer r.client.Close()
	if err := o.Folder.make(m, o.Schedule); err != nil {
		return err
	}
	release, err := o.Folder.Lock()
	if err != nil {
		return err
	}
	defer release()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	r.tell("running")
	if err := r.play(ctx); err != nil {
		return err
	}
	m.Ended = true
	return o.Folder.write(m)
}

func (r *run) tell(doing string) {
	if r.Tell != nil {
		r.Tell(doing)
	}
}

// connect asks every server whether it answers.
func (r *run) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, setupIn)
	defer cancel()
	store, err := r.Target.Store(r.names.Objects(), r.Env)
	if err != nil {
		return err
	}
	if err := store.Reach(ctx); err != nil {
		return err
	}
	if r.client, err = r.Target.Client(); err != nil {
		return err
	}
	if err := r.client.Ping(ctx); err != nil {
		r.client.Close()
		return fmt.Errorf("no answer from %v: %w", r.Target.Brokers, err)
	}
	r.reader = audit.NewReader(r.client, store, r.World, r.names)
	if r.Target.Stack != "" {
		r.stack, err = stack.Open(r.Target.Stack)
	}
	return err
}

// prepare makes what the processes need.
func (r *run) prepare(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, setupIn)
	defer cancel()
	r.tell("creating topics")
	var topics []stack.Topic
	for _, t := range r.World.Topics {
		topics = append(topics, stack.Topic{
			Name: r.names.Of(t.Name), Partitions: t.Partitions,
		})
	}
	if err := stack.CreateTopics(ctx, r.client, topics...); err != nil {
		return err
	}
	if err := r.putTorn(ctx); err != nil {
		return err
	}
	r.own, err = proc.NewFile(proc.FileConfig{
		Path: r.Folder.in(livesName, "supervisor.jsonl"), Began: r.began, Names: r.names,
		Fail: r.cannotWrite,
	})
	return err
}

func (r *run) putTorn(ctx context.Context) error {
	for _, key := range sortedKeys(r.World.Torn) {
		if _, err := r.reader.Objects().Put(ctx, key, r.World.Torn[key]); err != nil {
			return fmt.Errorf("storing what a run begins with: %w", err)
		}
	}
	return nil
}

// cannotWrite ends the program: without a history nothing may go on. The processes end
// with it.
func (r *run) cannotWrite(err error) {
	fmt.Fprintln(os.Stderr, "live:", err)
	const statusNotRun = 3
	os.Exit(statusNotRun)
}

// play starts everything, drives it to its end and ends it.
func (r *run) play(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	r.asks = newAsks(r)
	defer func() {
		close(r.stopping)
		r.killAll()
		r.heal() // brokers that are down come back
		r.outages.Wait()
	}()
	for _, p := range r.World.Processes {
		for i := range p.Replicas {
			if !p.Last {
				all.Go(func() { r.supervise(worlds.Replica(p.Name, i)) })
			}
		}
	}
	if r.World.Asked {
		all.Go(r.asks.hand)
		r.mu.Lock()
		r.fed = true
		r.mu.Unlock()
	} else {
		all.Go(func() { r.feed(ctx) })
	}
	drained, err := r.drive(ctx)
	if err != nil {
		return err
	}
	if !drained {
		r.own.Record(model.Event{
			Kind: model.Alert, Op: worlds.NotDrained, Note: r.Liveness.String(),
		})
		return nil
	}
	return r.readLast(ctx)
}

// drive waits until the world has drained or its time is up, and reports whether it did.
func (r *run) drive(ctx context.Context) (bool, error) {
	ends := time.Now().Add(r.Safety)
	var since time.Time // when it had drained
	healed := false
	for {
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("interrupted: %w", ctx.Err())
		case <-time.After(lookEvery):
		}
		drained, err := r.drained(ctx)
		if err != nil {
			return false, err
		}
		now := time.Now()
		switch {
		case !drained:
			since = time.Time{}
		case since.IsZero():
			since = now
		}
		wait := settle
		if left := r.left(); left > 0 && !healed {
			wait = quiet
		}
		over := !since.IsZero() && now.Sub(since) >= wait
		if !over && now.Before(ends) {
			continue
		}
		if healed {
			return !since.IsZero(), nil
		}
		r.tell("faults end")
		r.heal()
		r.own.Record(model.Event{Kind: model.Heal})
		healed, ends, since = true, time.Now().Add(r.Liveness), time.Time{}
	}
}

// left returns how many faults have not struck.
func (r *run) left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.unfired)
}

// drained asks the servers. One that does not answer is no error: faults see to that.
func (r *run) drained(ctx context.Context) (bool, error) {
	r.mu.Lock()
	fed, err, standing := r.fed, r.feedErr, r.standing
	r.mu.Unlock()
	if err != nil || !fed || time.Now().Before(standing) || !r.asks.idle() {
		return false, err
	}
	if r.World.Drained == nil {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookIn)
	defer cancel()
	drained, err := r.World.Drained(ctx, r.reader)
	return drained && err == nil, nil
}

// readLast runs the readers that run when all else is done.
func (r *run) readLast(ctx context.Context) error {
	r.tell("reading")
	var all sync.WaitGroup
	for _, p := range r.World.Processes {
		for i := range p.Replicas {
			if p.Last {
				all.Go(func() { r.supervise(worlds.Replica(p.Name, i)) })
			}
		}
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(lastIn):
		return errors.New("the last readers have not come to an end")
	case <-ctx.Done():
		return fmt.Errorf("interrupted: %w", ctx.Err())
	}
}
