package hops

import (
	"context"
	"fmt"
)

// landRecords lands the queue one object per offset: it puts good records in
// order, up to the first failure or until a rebalance or the end calls it away,
// dead-letters the rejects before that, and resolves what both have settled.
// Holes have no object.
func (l *Landing) landRecords(ctx context.Context, p *partition) (string, error) {
	what, err := "", error(nil)
	reach := 0 // items below it are stored or are rejects
	for ; reach < len(p.queue) && !l.hurry.Load() && ctx.Err() == nil; reach++ {
		it := p.queue[reach]
		if it.reject != "" || it.resolved {
			continue
		}
		if err = l.putRecord(ctx, p, it); err != nil {
			what = AlertPutFailed
			break
		}
		it.resolved = true
	}
	if deadErr := l.bury(ctx, p.queue[:reach]); deadErr != nil && err == nil {
		what, err = AlertDLQFailed, deadErr
	}
	settled := p.done
	for _, it := range p.queue {
		if !it.resolved {
			break
		}
		settled = it.record.Offset + 1
	}
	p.resolve(settled)
	return what, err
}

// putRecord replaces the object of one offset. The body depends on the log
// alone, so a second put, ours or a zombie's, changes nothing.
func (l *Landing) putRecord(ctx context.Context, p *partition, it *item) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	key := ObjectKey(l.cfg.Topic, p.id, it.record.Offset)
	if _, err := l.cfg.Store.Put(ctx, key, AppendBody(nil, it.line())); err != nil {
		return fmt.Errorf("putting %s: %w", key, err)
	}
	return nil
}

// line is how an object's body shows this record.
func (it *item) line() Line {
	if it.reject != "" {
		return Line{Offset: it.record.Offset, Reject: it.reject}
	}
	return Line{
		Offset:    it.record.Offset,
		Timestamp: it.record.Timestamp.UnixMilli(),
		Key:       it.record.Key,
		Value:     it.record.Value,
	}
}
