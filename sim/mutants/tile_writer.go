package mutants

import (
	"context"
	"errors"
	"fmt"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// Where a tile has its three logs.
const (
	tileOffsets = worlds.TilePrefix + "/checkpoint/offsets/"
	tileCommits = worlds.TilePrefix + "/checkpoint/commits/"
	tileSink    = worlds.TilePrefix + "/" + hops.SinkLogDir + "/"
)

// tileJob is a tile as people write their first one: plan what was polled, count it,
// write a part, name it in the sink log, commit, and at the first error exit, so that
// the supervisor starts it again where the checkpoint says. It relies on being started
// again for whatever is unknown. The functions are where it can go wrong.
type tileJob struct {
	// log opens the topic where the next batch begins.
	log func(ctx context.Context, l *tileLife) (*tileLog, error)
	// ahead decides what becomes of a sink log that is ahead of the checkpoint.
	ahead func(l *tileLife) error
	// again makes the plan of the batch that was planned and not committed.
	again func(ctx context.Context, l *tileLife) error
	// claim writes an entry of a log.
	claim func(ctx context.Context, l *tileLife, key string, body []byte) error
	// compact writes an entry of the sink log that stands for all before it.
	compact func(ctx context.Context, l *tileLife, key string) error
	// steps are what is done of a batch that is planned and read.
	steps []func(l *tileLife, ctx context.Context) error
}

// newTileJob returns a job without a mistake.
func newTileJob() *tileJob {
	return &tileJob{
		log: openTileLog,
		ahead: func(l *tileLife) error {
			return fmt.Errorf("%w: it has batch %d, and %d is planned", errAhead, l.sink, l.batch)
		},
		again:   sameRanges,
		claim:   claimFree,
		compact: compactThenDelete,
		steps: []func(*tileLife, context.Context) error{
			(*tileLife).part, (*tileLife).name, (*tileLife).commit,
		},
	}
}

var (
	errAhead = errors.New("the sink log is ahead of the checkpoint")
	errTaken = errors.New("another run has written this entry")
)

// tileLife is one life of a job.
type tileLife struct {
	sim.Env
	job *tileJob
	log *tileLog
	// batch is the batch in hand, or the last one, or -1; open says that it is planned
	// and not committed. Sink is the last batch that the sink log had at the start.
	batch, sink int64
	open        bool
	plan        hops.BatchPlan
	rows        []hops.TileRow
	files       []hops.SinkFile
}

// run is one life. A job that refuses to go on calls an operator, and is done.
func (j *tileJob) run(ctx context.Context, env sim.Env) error {
	l := &tileLife{Env: env, job: j}
	err := l.live(ctx)
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, errAhead):
		env.Alert(hops.AlertStopped, err.Error())
		return nil
	}
	return err
}

// live recovers, ends what the life before has begun, and goes on.
func (l *tileLife) live(ctx context.Context) error {
	if err := l.recover(ctx); err != nil {
		return err
	}
	log, err := l.job.log(ctx, l)
	if err != nil {
		return err
	}
	defer log.Close()
	l.log = log
	if l.open {
		if err := l.job.again(ctx, l); err != nil {
			return err
		}
		if err := l.finish(ctx); err != nil {
			return err
		}
	}
	for {
		ranges, more := l.log.ranges()
		if !more {
			if err := l.log.poll(ctx); err != nil {
				return err
			}
			continue
		}
		l.batch, l.plan = l.batch+1, l.planOf(ranges)
		key, body := entryKey(tileOffsets, l.batch), hops.AppendBatchPlan(nil, l.plan)
		if err := l.job.claim(ctx, l, key, body); err != nil {
			return err
		}
		if err := l.finish(ctx); err != nil {
			return err
		}
	}
}

// recover finds the last batch that is planned, and how far it got. The logs are
// listed against the order in which they are written, so that one that another run
// goes on writing is never seen behind the one after it.
func (l *tileLife) recover(ctx context.Context) error {
	commits, err := l.entries(ctx, tileCommits)
	if err != nil {
		return err
	}
	sink, err := l.entries(ctx, tileSink)
	if err != nil {
		return err
	}
	offsets, err := l.entries(ctx, tileOffsets)
	if err != nil {
		return err
	}
	l.batch, l.sink = lastOf(offsets), lastOf(sink)
	if l.sink > l.batch {
		if err := l.job.ahead(l); err != nil {
			return err
		}
	}
	if l.batch < 0 {
		return nil
	}
	l.open = lastOf(commits) < l.batch
	body, _, err := l.Objects.Get(ctx, entryKey(tileOffsets, l.batch))
	if err != nil {
		return err
	}
	l.plan, err = hops.ParseBatchPlan(body)
	return err
}

// planOf returns the plan with these ranges. It says whose it is.
func (l *tileLife) planOf(ranges []hops.OffsetRange) hops.BatchPlan {
	return hops.BatchPlan{
		Topic: worlds.Progress, Ranges: ranges, Run: fmt.Sprintf("%s-life-%d", l.Instance, l.Life),
	}
}

// sameRanges runs the batch again with the ranges that it has.
func sameRanges(ctx context.Context, l *tileLife) error { return l.log.reach(ctx, l.plan.Ranges) }

// finish counts what is planned and does the rest of the batch.
func (l *tileLife) finish(ctx context.Context) error {
	l.rows, l.files = tileRows(l.log.take(l.plan.Ranges)), nil
	for _, step := range l.job.steps {
		if err := step(l, ctx); err != nil {
			return err
		}
	}
	return nil
}

// named says whether the sink log has the batch from the life before: then its files
// are not written again.
func (l *tileLife) named() bool { return l.sink >= l.batch }

// part writes the rows of the batch into a file with a name of its own.
func (l *tileLife) part(ctx context.Context) error {
	if l.named() {
		return nil
	}
	id := fmt.Sprintf("%05d-%s-life-%d", l.batch, l.Instance, l.Life)
	return l.writePart(ctx, id, l.rows)
}

func (l *tileLife) writePart(ctx context.Context, id string, rows []hops.TileRow) error {
	body, err := hops.EncodeTileRows(rows)
	if err != nil {
		return err
	}
	key := worlds.TilePrefix + "/part-" + id + ".snappy.parquet"
	if _, err := l.Objects.Put(ctx, key, body); err != nil {
		return err
	}
	l.files = append(l.files, hops.SinkFile{
		Path: "/" + key, Size: int64(len(body)), BlockReplication: 1, Action: "add",
	})
	return nil
}

// name makes the files of the batch data.
func (l *tileLife) name(ctx context.Context) error {
	if l.named() {
		return nil
	}
	name := hops.SinkLogName(l.batch, hops.CompactEvery)
	if name != fmt.Sprint(l.batch) {
		return l.job.compact(ctx, l, tileSink+name)
	}
	return l.job.claim(ctx, l, tileSink+name, hops.AppendSinkLog(nil, l.files...))
}

// commit ends the batch.
func (l *tileLife) commit(ctx context.Context) error {
	const body = "v1\n" + `{"nextBatchWatermarkMs":0}`
	return l.job.claim(ctx, l, entryKey(tileCommits, l.batch), []byte(body))
}

// claimFree writes an entry where none is. Where one is, another run has won, or an
// earlier life of ours whose put came late: the next life goes by it.
func claimFree(ctx context.Context, l *tileLife, key string, body []byte) error {
	ok, _, err := l.Objects.PutIf(ctx, key, body, "")
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", key, errTaken)
	}
	return err
}
