package mutants

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// copier is a transactional copy job as people write it with one session: poll,
// begin, produce, end, and at the first error exit, so that the supervisor starts it
// again at the group's offset. In itself it is right: the mutants add their mistake.
type copier struct {
	sim.Env
	*kgo.GroupTransactSession
}

// copying is what a copier does besides; the zero value is without a mistake.
type copying struct {
	// id is the transactional id; "" is one of the instance's own.
	id string
	// timeout is the transaction's; 0 is that of the worlds.
	timeout time.Duration
	// inside, when set, is done within the transaction, when its output is written.
	inside func(ctx context.Context, c *copier, records []*kgo.Record) error
	// ended, when set, ends the transaction in place of the session's End.
	ended func(ctx context.Context, c *copier) (bool, error)
}

// transactionTimeout is what the right hop says in these worlds.
const transactionTimeout = 15 * time.Second

// errAborted ends the life of a copier that was refused a commit.
var errAborted = errors.New("the transaction was aborted")

// run is one life: it copies until ctx ends.
func (o copying) run(ctx context.Context, env sim.Env) error {
	session, err := kgo.NewGroupTransactSession(slices.Concat(consuming(), writing(
		cmp.Or(o.id, env.Instance), cmp.Or(o.timeout, transactionTimeout)), env.Kafka)...)
	if err != nil {
		return err
	}
	defer session.CloseAllowingRebalance()
	// What an earlier life left open ends now. The client would not ask before it
	// writes, and cannot read before the offsets in that transaction are decided.
	if _, _, err := session.Client().ProducerID(ctx); err != nil {
		return err
	}
	c := &copier{Env: env, GroupTransactSession: session}
	for {
		fetches := session.PollRecords(ctx, maxPoll)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		// A transaction that has begun is finished: the end of ctx can wait for it.
		if err := o.carry(context.WithoutCancel(ctx), c, fetches.Records()); err != nil {
			return err
		}
	}
}

// carry carries the records of one poll over in one transaction.
func (o copying) carry(ctx context.Context, c *copier, records []*kgo.Record) error {
	if len(records) == 0 {
		return nil
	}
	if err := c.Begin(); err != nil {
		return err
	}
	err := c.ProduceSync(ctx, outputs(records)...).FirstErr()
	if err == nil && o.inside != nil {
		err = o.inside(ctx, c, records)
	}
	if err != nil {
		_, _ = c.End(ctx, kgo.TryAbort)
		return err
	}
	end := o.ended
	if end == nil {
		end = commitOrFail
	}
	committed, err := end(ctx, c)
	if err == nil && !committed {
		err = errAborted
	}
	return err
}

func commitOrFail(ctx context.Context, c *copier) (bool, error) {
	return c.End(ctx, kgo.TryCommit)
}

// consuming are the options of who reads the input.
func consuming() []kgo.Opt {
	return []kgo.Opt{
		kgo.ConsumerGroup(worlds.ValidatedGroup), kgo.ConsumeTopics(worlds.Progress),
		kgo.ServerSideBalancer(), kgo.DisableAutoCommit(),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
}

// writing are the options of who writes in transactions.
func writing(id string, timeout time.Duration) []kgo.Opt {
	return []kgo.Opt{kgo.TransactionalID("copier-" + id), kgo.TransactionTimeout(timeout)}
}

// outputs returns what the records become: those that the contract accepts, with
// their origin.
func outputs(records []*kgo.Record) []*kgo.Record {
	var out []*kgo.Record
	for _, r := range records {
		if lineOf(r).Reject != "" {
			continue
		}
		partition := strconv.AppendInt(nil, int64(r.Partition), 10)
		offset := strconv.AppendInt(nil, r.Offset, 10)
		out = append(out, &kgo.Record{
			Topic: worlds.ValidatedTopic, Key: r.Key, Value: r.Value,
			Headers: append(slices.Clone(r.Headers),
				kgo.RecordHeader{Key: hops.HeaderTopic, Value: []byte(r.Topic)},
				kgo.RecordHeader{Key: hops.HeaderPartition, Value: partition},
				kgo.RecordHeader{Key: hops.HeaderOffset, Value: offset}),
		})
	}
	return out
}

// withProcess returns w with another program in the process of that name. A name
// that w does not have panics.
func withProcess(
	w sim.World, name string, run func(context.Context, sim.Env) error,
) sim.World {
	w.Processes = slices.Clone(w.Processes)
	at := slices.IndexFunc(w.Processes, func(p sim.Process) bool { return p.Name == name })
	if at < 0 {
		panic("mutants: world " + w.Name + " has no process " + name)
	}
	w.Processes[at].Run = run
	return w
}

// validatedOne is the world of one transactional member: whatever goes wrong, it is
// not because there are two.
func validatedOne() sim.World {
	return worlds.Validated("validated-one", worlds.ValidatedSetup{Replicas: 1})
}

// validatedTwo is the world of two.
func validatedTwo() sim.World {
	return worlds.Validated("validated", worlds.ValidatedSetup{Replicas: 2})
}
