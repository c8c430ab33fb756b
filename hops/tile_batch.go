package hops

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sparkBlockSize is what Spark writes for stores without blocks of their own.
const sparkBlockSize = 32 << 20

// plan decides what the next batch reads: from where the last one ends, up to
// what the log has and MaxOffsetsPerBatch allows. More is false when there is
// nothing; behind says that the limit left something for the batch after.
func (t *Tile) plan(
	ctx context.Context, batch int64, last BatchPlan,
) (next BatchPlan, more, behind bool, err error) {
	var bounds []logBounds
	err = t.insist(ctx, "asking how far "+t.cfg.Topic+" goes",
		func(ctx context.Context) (err error) {
			bounds, err = t.source.bounds(ctx)
			return err
		})
	if err != nil {
		return BatchPlan{}, false, false, err
	}
	ranges, err := t.follow(batch, last, bounds)
	if err != nil {
		return BatchPlan{}, false, false, err
	}
	left := int64(t.cfg.MaxOffsetsPerBatch)
	for i := range ranges {
		r := &ranges[i]
		// An equal share of what is left, rounded up, so that one offset always fits.
		partitions := int64(len(ranges) - i)
		share := (left + partitions - 1) / partitions
		if r.End-r.Start > share {
			r.End, behind = r.Start+share, true
		}
		left -= r.End - r.Start
		more = more || r.End > r.Start
	}
	next = BatchPlan{
		Topic: t.cfg.Topic, Ranges: ranges, Run: t.run, TimestampMs: time.Now().UnixMilli(),
	}
	return next, more, behind, nil
}

// follow returns ranges that begin where those of last end, and end where the
// log does. Partitions that are new begin where the log does.
func (t *Tile) follow(batch int64, last BatchPlan, bounds []logBounds) ([]OffsetRange, error) {
	ends := make(map[int32]int64)
	for _, r := range last.Ranges {
		ends[r.Partition] = r.End
	}
	var ranges []OffsetRange
	for _, b := range bounds {
		start, known := ends[b.partition]
		delete(ends, b.partition)
		switch {
		case !known:
			start = b.start
		case start < b.start:
			return nil, &RangeLostError{
				Topic: t.cfg.Topic, Partition: b.partition, Offset: start, Start: b.start,
				Batch: batch,
			}
		case b.end < start:
			t.alert(AlertBehind, "%s/%d ends at offset %d, below offset %d that batch %d has "+
				"read up to: nothing is read until it is there again; unless a leader has just "+
				"changed, the topic was truncated or created anew",
				t.cfg.Topic, b.partition, b.end, start, batch-1)
		}
		ranges = append(ranges, OffsetRange{b.partition, start, max(start, b.end)})
	}
	for _, r := range last.Ranges {
		if end, unseen := ends[r.Partition]; unseen {
			return nil, &TileDamageError{
				Key: t.key(checkpointOffsets + fmt.Sprint(batch-1)),
				Reason: fmt.Sprintf("it read %s/%d up to offset %d, and the topic has no such "+
					"partition", t.cfg.Topic, r.Partition, end),
				Remedy: "the topic was created anew: begin a new tile under another prefix",
			}
		}
	}
	return ranges, nil
}

// writePlan makes the ranges of a batch durable before the first of them is
// read, so that whoever runs the batch again reads the same.
func (t *Tile) writePlan(ctx context.Context, batch int64, plan BatchPlan) error {
	return t.claim(ctx, batch, checkpointOffsets+fmt.Sprint(batch), AppendBatchPlan(nil, plan))
}

// claim creates an object that only one run may write.
func (t *Tile) claim(ctx context.Context, batch int64, name string, body []byte) error {
	created, err := t.create(ctx, t.key(name), body)
	if err == nil && !created {
		return &TileConflictError{Key: t.key(name), Batch: batch}
	}
	return err
}

// runBatch reads what is planned, writes it, and names it in the sink log: only
// then is it data.
func (t *Tile) runBatch(ctx context.Context, batch int64, plan BatchPlan) error {
	counts := newTally(t.cfg.Window)
	for _, r := range plan.Ranges {
		if err := t.readRange(ctx, batch, r, counts); err != nil {
			return err
		}
	}
	files, err := t.writeParts(ctx, counts.rows())
	if err != nil {
		return err
	}
	name := SinkLogName(batch, CompactEvery)
	if name != fmt.Sprint(batch) {
		before, err := t.sinkState(ctx, batch)
		if err != nil {
			return err
		}
		files = visible(append(before, files...))
	}
	if err := t.claim(ctx, batch, SinkLogDir+"/"+name, AppendSinkLog(nil, files...)); err != nil {
		return err
	}
	return t.commit(ctx, batch)
}

// readRange counts the records of one range, each once, whatever is fetched
// twice on the way.
func (t *Tile) readRange(ctx context.Context, batch int64, r OffsetRange, counts *tally) error {
	for at := r.Start; at < r.End; {
		doing := fmt.Sprintf("reading %s/%d at offset %d", t.cfg.Topic, r.Partition, at)
		next := at
		err := t.insist(ctx, doing, func(ctx context.Context) error {
			records, after, err := t.source.read(ctx, r.Partition, at)
			var trimmed errTrimmed
			switch {
			case errors.As(err, &trimmed):
				return &RangeLostError{
					Topic: t.cfg.Topic, Partition: r.Partition, Offset: at, Start: trimmed.start,
					Batch: batch, Planned: true,
				}
			case err != nil:
				return err
			case after <= at:
				return fmt.Errorf("nothing is there yet, and batch %d needs it up to %d",
					batch, r.End)
			}
			for _, record := range records {
				if record.Offset >= at && record.Offset < r.End {
					counts.add(record)
				}
			}
			next = after
			return nil
		})
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// writeParts stores the rows under names that no other attempt has, and returns
// their lines for the sink log. A batch without rows has a part without rows:
// its name tells our sink log entry from another run's.
func (t *Tile) writeParts(ctx context.Context, rows []TileRow) ([]SinkFile, error) {
	var files []SinkFile
	attempt := t.cfg.NewID()
	for number := 0; number == 0 || len(rows) > 0; number++ {
		n := min(len(rows), t.cfg.MaxRowsPerPart)
		body, err := EncodeTileRows(rows[:n])
		if err != nil {
			return nil, err
		}
		rows = rows[n:]
		key := t.key(fmt.Sprintf("part-%05d-%s-c000.snappy.parquet", number, attempt))
		if err := t.put(ctx, key, body); err != nil {
			return nil, err
		}
		files = append(files, SinkFile{
			Path: t.cfg.BaseURI + "/" + key, Size: int64(len(body)),
			ModificationTime: time.Now().UnixMilli(), BlockReplication: 1,
			BlockSize: sparkBlockSize, Action: "add",
		})
	}
	return files, nil
}

// commit ends a batch that is in the sink log. Any run may do it, with the same
// bytes. Then it removes what a compact file has replaced, which is durable.
func (t *Tile) commit(ctx context.Context, batch int64) error {
	name := checkpointCommits + fmt.Sprint(batch)
	if err := t.claim(ctx, batch, name, appendCommit(nil)); err != nil {
		return err
	}
	if SinkLogName(batch, CompactEvery) == fmt.Sprint(batch) {
		return nil
	}
	names, err := t.list(ctx, SinkLogDir+"/")
	if err != nil {
		return err
	}
	for _, covered := range readSinkListing(names).covered {
		t.remove(ctx, t.key(SinkLogDir+"/"+covered))
	}
	return nil
}

// sinkState returns the files that the sink log names before a batch.
func (t *Tile) sinkState(ctx context.Context, batch int64) (files []SinkFile, err error) {
	var found sinkListing
	err = t.insist(ctx, "reading the sink log of "+t.cfg.Prefix,
		func(ctx context.Context) (err error) {
			files, found, err = readSinkLog(ctx, t.cfg.Store, t.cfg.Prefix)
			return err
		})
	switch {
	case err != nil:
		return nil, err
	case found.last >= batch:
		name := found.state[len(found.state)-1]
		return nil, &TileConflictError{Key: t.key(SinkLogDir + "/" + name), Batch: batch}
	case found.last != batch-1:
		return nil, t.damaged(SinkLogDir+"/", remedyGap, "it ends at batch %d while batch %d runs",
			found.last, batch)
	}
	return files, nil
}
