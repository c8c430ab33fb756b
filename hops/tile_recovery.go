package hops

import (
	"context"
	"fmt"
	"slices"
)

// tileListing is what the store names of a tile: the names in its three logs,
// without their folders, and whether the checkpoint has its metadata.
type tileListing struct {
	metadata               bool
	offsets, commits, sink []string
}

// decision is where a run begins.
type decision struct {
	// Last is the last planned batch, or -1: its ranges say where the next begins.
	last int64
	// Again says that batch last is run again, with the ranges that it has.
	again bool
	// Commit says that batch last is in the sink log and only lacks its commit.
	commit bool
}

// What an operator can do about each kind of damage.
const (
	remedyAhead = "bring the checkpoint back from a copy, or begin a new tile under " +
		"another prefix: batch numbers that start again would be skipped as done"
	remedyGap = "bring the object back from a copy, or begin a new tile under another prefix"
)

// decide finds where to go on from a listing of the three logs. A batch is
// planned, then in the sink log, then committed, so each log may be ahead of the
// next by one entry and no more.
func (t *Tile) decide(found tileListing) (decision, error) {
	sink := readSinkListing(found.sink)
	offsets, err := t.lastEntry(checkpointOffsets, found.offsets)
	if err != nil {
		return decision{}, err
	}
	commits, err := t.lastEntry(checkpointCommits, found.commits)
	if err != nil {
		return decision{}, err
	}
	damage := func(key, remedy, reason string, args ...any) (decision, error) {
		return decision{}, t.damaged(key, remedy, reason, args...)
	}
	sinkKey := SinkLogDir + "/"
	switch {
	case sink.last > offsets:
		return damage(sinkKey, remedyAhead, "the sink log has batch %d and is ahead of the "+
			"checkpoint, whose last planned batch is %d (-1: none)", sink.last, offsets)
	case commits > offsets:
		return damage(checkpointOffsets, remedyGap, "batch %d is committed but the last planned "+
			"batch is %d (-1: none)", commits, offsets)
	case !found.metadata && offsets >= 0:
		return damage(checkpointMetadata, remedyGap, "it is missing though batch %d is planned",
			offsets)
	case sink.missing >= 0:
		return damage(sinkKey, remedyGap, "batch %d is missing below batch %d",
			sink.missing, sink.last)
	case commits > sink.last:
		return damage(sinkKey, remedyGap, "batch %d is committed but the sink log ends at "+
			"batch %d (-1: none)", commits, sink.last)
	case offsets > commits+1:
		return damage(checkpointCommits, remedyGap, "batch %d is planned but the last committed "+
			"batch is %d (-1: none)", offsets, commits)
	}
	return decision{
		last:   offsets,
		again:  sink.last < offsets,
		commit: sink.last == offsets && commits < offsets,
	}, nil
}

// lastEntry returns the last batch of a checkpoint log, or -1. The oldest
// entries may be gone, as Spark removes them too, but none between two others.
func (t *Tile) lastEntry(dir string, names []string) (int64, error) {
	var batches []int64
	for _, name := range names {
		if batch, ok := parseBatch(name); ok { // others are temporary files
			batches = append(batches, batch)
		}
	}
	slices.Sort(batches)
	for i, batch := range batches {
		if i > 0 && batch != batches[i-1]+1 {
			return 0, t.damaged(dir+fmt.Sprint(batches[i-1]+1), remedyGap,
				"it is missing below batch %d", batch)
		}
	}
	if len(batches) == 0 {
		return -1, nil
	}
	return batches[len(batches)-1], nil
}

func (t *Tile) damaged(key, remedy, reason string, args ...any) error {
	return &TileDamageError{
		Key: t.key(key), Reason: fmt.Sprintf(reason, args...), Remedy: remedy,
	}
}

// recover finds where to go on, and the ranges of the last planned batch.
func (t *Tile) recover(ctx context.Context) (decision, BatchPlan, error) {
	found, from, err := t.lookUntilStill(ctx)
	if err != nil {
		return decision{}, BatchPlan{}, err
	}
	if !found.metadata {
		// Two runs that begin at once may both try: any id will do.
		body := appendCheckpointID(nil, t.cfg.NewID())
		_, err := t.create(ctx, t.key(checkpointMetadata), body)
		return from, BatchPlan{}, err
	}
	if from.last < 0 {
		return from, BatchPlan{}, nil
	}
	plan, err := t.readPlan(ctx, from.last, !from.again)
	if err != nil {
		return decision{}, BatchPlan{}, err
	}
	if slices.Contains(found.offsets, fmt.Sprint(from.last-1)) {
		before, err := t.readPlan(ctx, from.last-1, true)
		if err != nil {
			return decision{}, BatchPlan{}, err
		}
		if err := before.touch(plan); err != nil {
			key := checkpointOffsets + fmt.Sprint(from.last)
			return decision{}, BatchPlan{}, t.damaged(key, remedyGap, "%v", err)
		}
	}
	return from, plan, t.checkLast(ctx, found)
}

// lookUntilStill decides from a listing. The logs are not listed at one moment,
// so another run that is alive can look like damage: only what two looks in a row
// agree on is.
func (t *Tile) lookUntilStill(ctx context.Context) (tileListing, decision, error) {
	var before tileListing
	for look := 0; ; look++ {
		found, err := t.lookAround(ctx)
		if err != nil {
			return found, decision{}, err
		}
		from, err := t.decide(found)
		if err == nil || look > 0 && found.equal(before) {
			return found, from, err
		}
		if look == sinkLogLooks {
			return found, from, &TileConflictError{
				Key: t.key(SinkLogDir + "/"), Batch: readSinkListing(found.sink).last,
			}
		}
		before = found
	}
}

func (found tileListing) equal(other tileListing) bool {
	return found.metadata == other.metadata && slices.Equal(found.offsets, other.offsets) &&
		slices.Equal(found.commits, other.commits) && slices.Equal(found.sink, other.sink)
}

// lookAround lists the three logs and reads the checkpoint's metadata.
func (t *Tile) lookAround(ctx context.Context) (found tileListing, err error) {
	if found.commits, err = t.list(ctx, checkpointCommits); err != nil {
		return found, err
	}
	if found.sink, err = t.list(ctx, SinkLogDir+"/"); err != nil {
		return found, err
	}
	if found.offsets, err = t.list(ctx, checkpointOffsets); err != nil {
		return found, err
	}
	key := t.key(checkpointMetadata)
	body, ok, err := t.get(ctx, key)
	if err != nil || !ok {
		return found, err
	}
	found.metadata = true
	if _, err := parseCheckpointID(body); err != nil {
		return found, t.damaged(checkpointMetadata,
			`bring it back from a copy, or write {"id":"<any UUID>"}`, "%v", err)
	}
	return found, nil
}

// readPlan reads a planned batch. Done says that the sink log has it.
func (t *Tile) readPlan(ctx context.Context, batch int64, done bool) (BatchPlan, error) {
	name := checkpointOffsets + fmt.Sprint(batch)
	body, ok, err := t.get(ctx, t.key(name))
	if err != nil {
		return BatchPlan{}, err
	}
	if !ok {
		return BatchPlan{}, t.damaged(name, remedyGap, "it was listed and is gone")
	}
	plan, err := ParseBatchPlan(body)
	if err != nil {
		remedy := remedyGap
		if !done {
			remedy = "remove it: no log after it has the batch, which is then planned anew"
		}
		return BatchPlan{}, t.damaged(name, remedy, "%v", err)
	}
	if plan.Topic != t.cfg.Topic {
		return BatchPlan{}, t.damaged(name, "give each topic a prefix of its own",
			"it reads topic %q, and this tile %q", plan.Topic, t.cfg.Topic)
	}
	return plan, nil
}

// checkLast reads the last entry of the other two logs, which a crash is most
// likely to have torn in a store that can.
func (t *Tile) checkLast(ctx context.Context, found tileListing) error {
	sink := readSinkListing(found.sink)
	if sink.last >= 0 {
		name := SinkLogDir + "/" + sink.state[len(sink.state)-1]
		body, ok, err := t.get(ctx, t.key(name))
		if err != nil {
			return err
		}
		if ok { // otherwise another run has just compacted it
			if _, err := ParseSinkLog(body); err != nil {
				return t.damaged(name, remedyGap, "%v", err)
			}
		}
	}
	last, err := t.lastEntry(checkpointCommits, found.commits)
	if err != nil || last < 0 {
		return err
	}
	name := checkpointCommits + fmt.Sprint(last)
	body, ok, err := t.get(ctx, t.key(name))
	if err == nil && ok {
		if wrong := parseCommit(body); wrong != nil {
			return t.damaged(name, "remove it: the sink log has its batch, and the commit is "+
				"written anew", "%v", wrong)
		}
	}
	return err
}
