package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/specs"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/bus"
	"github.com/hopcheck/hopcheck/sim/database"
)

// Names of hop 5.
const (
	EnrollmentTopic = "learning.enrollment"
	CohortPrefix    = "cohort"
)

// Sizes and times of the enrollment worlds, virtual.
const (
	changes    = 30
	changeRate = 350 * time.Millisecond
	// SlotLimit is what the slot may hold back before the monitor calls, in bytes, and
	// SlotWithin how long it may take to call.
	SlotLimit  = 32 << 20
	SlotWithin = 15 * time.Minute
	// awayFor is how long the publisher stays away in the world that is about that,
	// and background what others write meanwhile, in bytes per second.
	awayFor    = 24 * time.Hour
	background = 1 << 10
)

func init() {
	for name, s := range map[string]EnrollmentSetup{
		"enrollment":         {Publishers: 1},
		"enrollment-pollers": {Publishers: 2},
		"enrollment-log":     {Publishers: 1, Log: true},
		"enrollment-logs":    {Publishers: 2, Log: true},
		"enrollment-down":    {Publishers: 1, Log: true, Away: awayFor},
	} {
		register(Entry{
			World: Enrollment(name, s), Hop: 5, Heavy: s.Away > 0,
			Spec: "enrollment", At: s.Topology(),
			Claim: "at-least-once publish, order per key kept; the fold equals the database",
		})
	}
}

// EnrollmentSetup is what differs between the enrollment worlds.
type EnrollmentSetup struct {
	// Publishers of one outbox, or of one replication slot.
	Publishers int
	// Log says that the publishers read the database's log; else they poll the outbox.
	Log bool
	// Away is how long the first publisher takes to begin, virtual: the log grows.
	Away time.Duration
}

// Topology says where in a history an enrollment world's traffic is.
func (s EnrollmentSetup) Topology() specs.Topology {
	proc := "poller"
	if s.Log {
		proc = "publisher"
	}
	return specs.Topology{
		Topic: EnrollmentTopic, Proc: proc, Partitions: partitions, Prefix: CohortPrefix,
	}
}

// Enrollment is the world of hop 5 under a name: an application that changes
// enrollments in concurrent transactions, who publishes the changes, the fold of what
// they publish, and who watches the slot.
func Enrollment(name string, s EnrollmentSetup) sim.World {
	w := sim.World{
		Name: name, Says: s.says(),
		Topics:    []sim.Topic{{Name: EnrollmentTopic, Partitions: partitions}},
		Processes: s.Processes(),
		Asks:      s.Asks,
		Identify:  bus.Identify,
		Describe:  DescribeCohort,
		Classify:  enrollmentCell,
		Database: func() *database.DB {
			return database.New(database.Config{
				Background: background, CheckpointEvery: 20 * time.Second, NoSlot: !s.Log,
			})
		},
		Promises:  s.Promises(),
		Sometimes: []props.Sometimes{props.SometimesCrash(), props.SometimesInterleaved()},
		Evidence:  append(seats(), copies(EnrollmentTopic)),
		Drained:   s.Drained,
	}
	if s.Away > 0 {
		w.Safety, w.Liveness = s.Away+time.Hour, time.Hour
	}
	return w
}

func (s EnrollmentSetup) says() string {
	kind := "poller"
	if s.Log {
		kind = "log publisher"
	}
	says := fmt.Sprintf("two registrars, 1 %s, the fold", kind)
	if s.Publishers > 1 {
		says = fmt.Sprintf("two registrars, %d %ss, the fold", s.Publishers, kind)
	}
	if s.Away > 0 {
		says += fmt.Sprintf("; nobody publishes for %s", s.Away)
	}
	return says
}

// Processes returns the programs of the world: the first is the application.
func (s EnrollmentSetup) Processes() []sim.Process {
	processes := []sim.Process{
		{Name: "registrar", Replicas: 2, Run: s.Register},
		{Name: "cohort", Run: s.Fold},
		{Name: "last-cohort", Last: true, Run: ReadCohortOnce},
	}
	if s.Log {
		return append(processes,
			sim.Process{Name: "publisher", Replicas: s.Publishers, Run: s.Publish},
			sim.Process{Name: "monitor", Run: s.Watch})
	}
	return append(processes, sim.Process{Name: "poller", Replicas: s.Publishers, Run: s.Poll})
}

// Promises returns what the world promises.
func (s EnrollmentSetup) Promises() []props.Property {
	source := props.FromOutbox
	if s.Log {
		source = props.FromLog
	}
	promises := []props.Property{
		props.PublishedOrPending(EnrollmentTopic, source),
		props.OrderPerKey(EnrollmentTopic, source),
		props.FoldEqualsDatabase(EnrollmentTopic, CohortPrefix, source),
		props.EqualLSNNoOp(EnrollmentTopic, CohortPrefix),
		props.SeatCounts(EnrollmentTopic, CohortPrefix, source),
	}
	if s.Log {
		return append(promises, props.ConfirmWithinAcked(EnrollmentTopic),
			props.SlotAlert(SlotLimit, SlotWithin))
	}
	return append(promises, props.MarkWithinAcked(EnrollmentTopic))
}

// Asks is the changes that applications make: few keys, so that they meet.
func (s EnrollmentSetup) Asks(rng *rand.Rand) []sim.Ask {
	list := make([]sim.Ask, changes)
	for i := range list {
		op := hops.OpEnrolled
		if rng.IntN(3) == 0 {
			op = hops.OpDropped
		}
		learner := bus.Learners[rng.IntN(len(bus.Learners)/2)]
		course := bus.Courses[rng.IntN(len(bus.Courses)/2)]
		list[i] = sim.Ask{
			Process: "registrar", Topic: EnrollmentTopic,
			At:    time.Duration(i/burst)*changeRate*burst + time.Duration(i%burst)*apart,
			ID:    fmt.Sprintf("change-%02d", i),
			Key:   []byte(learner + "/" + course),
			Value: []byte(op),
		}
		if s.Log && rng.IntN(2) == 0 {
			list[i].Value = append(list[i].Value, publishFirst...)
		}
	}
	return list
}

// publishFirst marks an ask that writes its outbox row before it locks the row of the
// enrollment: an order that only readers of the log may meet.
const publishFirst = " publish-first"

// Register is one life of the application.
func (s EnrollmentSetup) Register(ctx context.Context, env sim.Env) error {
	registrar, err := hops.NewRegistrar(hops.RegistrarConfig{Store: env.Database})
	if err != nil {
		return err
	}
	for {
		ask, ok := env.Inbox.Next(ctx)
		if !ok {
			return nil
		}
		env.Inbox.Answer(ask, OutcomeOfChange(makeChange(ctx, registrar, ask)))
	}
}

// Poll is one life of an outbox poller.
func (s EnrollmentSetup) Poll(ctx context.Context, env sim.Env) error {
	p, err := hops.NewPoller(hops.PollerConfig{
		Kafka: env.Kafka, Outbox: env.Database, Topic: EnrollmentTopic, Batch: 5,
		CoolDown: 10 * time.Second, Alert: alert(env),
	})
	if err != nil {
		return err
	}
	return p.Run(ctx)
}

// Publish is one life of a log publisher.
func (s EnrollmentSetup) Publish(ctx context.Context, env sim.Env) error {
	if env.Life == 1 && s.Away > 0 {
		select {
		case <-time.After(s.Away):
		case <-ctx.Done():
			return nil
		}
	}
	p, err := hops.NewLogPublisher(hops.LogPublisherConfig{
		Kafka: env.Kafka, Log: env.Database, Topic: EnrollmentTopic, Window: 8,
		CoolDown: 10 * time.Second, Alert: alert(env),
	})
	if err != nil {
		return err
	}
	return p.Run(ctx)
}

// Fold is one life of the cohort's fold.
func (s EnrollmentSetup) Fold(ctx context.Context, env sim.Env) error {
	kafka := env.Kafka
	if s.Away > 0 { // a day of short polls would only be long
		kafka = append(kafka[:len(kafka):len(kafka)], kgo.FetchMaxWait(5*time.Minute))
	}
	c, err := hops.NewCohort(hops.CohortConfig{
		Kafka: kafka, Store: env.Objects, Topic: EnrollmentTopic, Prefix: CohortPrefix,
		CoolDown: 10 * time.Second, Discover: 10 * time.Minute, Alert: alert(env),
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// Watch is one life of the slot's monitor.
func (s EnrollmentSetup) Watch(ctx context.Context, env sim.Env) error {
	every := 20 * time.Second
	if s.Away > 0 {
		every = 5 * time.Minute
	}
	m, err := hops.NewSlotMonitor(hops.SlotMonitorConfig{
		Watch: env.Database, Limit: SlotLimit, Every: every, Alert: alert(env),
	})
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

// Drained reports whether every change is published, known to be so, and folded in.
func (s EnrollmentSetup) Drained(v *model.View) bool {
	if s.Log && v.Confirmed() < v.LastChange() || !s.Log && v.Unpublished() > 0 {
		return false
	}
	return folded(v)
}
