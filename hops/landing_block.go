package hops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// heldBlock is what the store had of a block when we last looked: lines from the
// block's first offset on. An empty etag means that there was no object.
type heldBlock struct {
	lines []Line
	etag  string
}

// putRounds bounds how often one try answers a refused put by reading again.
// Two writers of a block can refuse each other only until one has written all
// there is.
const putRounds = 3

// errContended says that somebody else kept changing the object.
var errContended = errors.New("the object kept changing under us")

// landBlock lands one block, whole or, when the partition is idle for long
// enough, as the prefix that there is. The object of a block only ever gets
// longer: every write names the version that it extends.
func (l *Landing) landBlock(ctx context.Context, p *partition) (string, error) {
	if l.needsHeld(p) {
		if err := l.look(ctx, p); err != nil {
			return AlertPutFailed, err
		}
	}
	l.skipEmptyBlocks(p)
	end := l.blockEnd(p)
	if !l.wholeBlock(p) {
		idle := l.cfg.FlushAfter > 0 && len(p.queue) > 0 &&
			!p.lastTaken.Add(l.cfg.FlushAfter).After(time.Now())
		if !idle {
			return "", nil
		}
		end = p.next
	}
	if err := l.storeBlock(ctx, p, end); err != nil {
		return AlertPutFailed, err
	}
	below := 0
	for below < len(p.queue) && p.queue[below].record.Offset < end {
		// What is stored decides: if an older classifier judged otherwise, the
		// offset must not end up in both places, or in neither.
		p.queue[below].reject = p.held.lines[p.queue[below].record.Offset-l.blockStart(p)].Reject
		below++
	}
	if err := l.bury(ctx, p.queue[:below]); err != nil {
		return AlertDLQFailed, err
	}
	if end == l.blockEnd(p) {
		p.held = nil
	}
	p.resolve(end)
	return "", nil
}

func (l *Landing) blockStart(p *partition) int64 { return p.done - p.done%int64(l.cfg.BlockSize) }
func (l *Landing) blockEnd(p *partition) int64   { return l.blockStart(p) + int64(l.cfg.BlockSize) }

// wholeBlock says that the log is known up to the end of the block at done.
func (l *Landing) wholeBlock(p *partition) bool { return p.next >= l.blockEnd(p) }

// needsHeld says that done is inside a block whose stored prefix, which covers
// it, has not been read.
func (l *Landing) needsHeld(p *partition) bool {
	return p.held == nil && p.done > l.blockStart(p)
}

// skipEmptyBlocks moves done over blocks in which the log has nothing: no object
// would say more than the log's own start does, and there may be millions.
func (l *Landing) skipEmptyBlocks(p *partition) {
	if p.done == l.blockStart(p) && len(p.queue) > 0 {
		if first := p.queue[0].record.Offset; first >= l.blockEnd(p) {
			p.resolve(first - first%int64(l.cfg.BlockSize))
		}
	}
}

// storeBlock makes the store's object of the block at done cover it up to end.
func (l *Landing) storeBlock(ctx context.Context, p *partition, end int64) error {
	if p.held == nil {
		p.held = &heldBlock{} // most likely nobody was here: ask only if refused
	}
	key := ObjectKey(l.cfg.Topic, p.id, l.blockStart(p))
	for range putRounds {
		want, err := l.merge(p, end)
		if err != nil {
			return err
		}
		body := AppendBody(nil, want...)
		if len(want) == len(p.held.lines) && bytes.Equal(body, AppendBody(nil, p.held.lines...)) {
			return nil // the store has all of it: ours from before, or another's
		}
		ok, etag, err := l.putIf(ctx, key, body, p.held.etag)
		if err != nil {
			// Unknown. If it was applied, the next try is refused, reads the
			// object and finds its own bytes.
			return fmt.Errorf("putting %s: %w", key, err)
		}
		if ok {
			p.held = &heldBlock{lines: want, etag: etag}
			return nil
		}
		if err := l.look(ctx, p); err != nil {
			return err
		}
	}
	return fmt.Errorf("putting %s: %w", key, errContended)
}

func (l *Landing) putIf(
	ctx context.Context, key string, body []byte, etag string,
) (bool, string, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	return l.cfg.Store.PutIf(ctx, key, body, etag)
}

// look reads what the store has of the block at done. It must cover every
// offset that is resolved already.
func (l *Landing) look(ctx context.Context, p *partition) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	start := l.blockStart(p)
	key := ObjectKey(l.cfg.Topic, p.id, start)
	held := &heldBlock{}
	body, etag, err := l.cfg.Store.Get(ctx, key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("reading %s: %w", key, err)
	default:
		lines, err := ParseBody(body)
		if err != nil {
			return l.damaged(p, start, fmt.Sprintf("object %s cannot be read: %v", key, err))
		}
		if lines[0].Offset != start || len(lines) > l.cfg.BlockSize {
			return l.damaged(p, start, fmt.Sprintf(
				"object %s holds offsets %d to %d: was the block size changed?",
				key, lines[0].Offset, lines[len(lines)-1].Offset))
		}
		held = &heldBlock{lines: lines, etag: etag}
	}
	if covered := start + int64(len(held.lines)); covered < p.done {
		return l.damaged(p, covered, fmt.Sprintf(
			"the group is at offset %d but object %s ends before %d", p.done, key, covered))
	}
	p.held = held
	return nil
}

// merge returns the lines of the block at done up to end or, if the store has
// more, up to where the store ends. The store's lines stay; ours fill what it
// lacks.
func (l *Landing) merge(p *partition, end int64) ([]Line, error) {
	start := l.blockStart(p)
	size := max(end-start, int64(len(p.held.lines)))
	lines := make([]Line, size)
	for i := range lines {
		lines[i] = Line{Offset: start + int64(i), Hole: true}
	}
	copy(lines, p.held.lines)
	for _, it := range p.queue {
		if it.record.Offset >= start+size {
			break
		}
		ours, i := it.line(), it.record.Offset-start
		switch has := lines[i]; {
		case has.Hole:
			// Also where whoever wrote it came after a compaction and we did not.
			lines[i] = ours
		case has.Reject == "" && ours.Reject == "" && !sameRecord(has, ours):
			return nil, l.damaged(p, ours.Offset, fmt.Sprintf("offset %d is stored with "+
				"another content: was the topic created anew?", ours.Offset))
		}
	}
	return lines, nil
}

func sameRecord(a, b Line) bool {
	return a.Timestamp == b.Timestamp && sameBytes(a.Key, b.Key) && sameBytes(a.Value, b.Value)
}

func sameBytes(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func (l *Landing) damaged(p *partition, offset int64, reason string) error {
	return &DamageError{Topic: l.cfg.Topic, Partition: p.id, Offset: offset, Reason: reason}
}
