package hops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// partition is what landing has in hand of one partition while it owns it.
//
//	committed <= done <= next; all -1 until the first record comes
//
// Offsets below done are resolved: stored, dead-lettered, or holes. Offsets
// from done to next are in the queue, or are holes. A partition is
//
//	ready    due is past: step does the next thing
//	waiting  due is ahead, after a failure: nothing is fetched or done
//	stopped  damage is set: nothing more happens until it is assigned anew
type partition struct {
	id        int32
	committed int64 // the group's offset, or where we began if it has none
	done      int64
	next      int64
	epoch     int32 // leader epoch of the last resolved record, for the commit
	queue     []*item
	lastTaken time.Time
	held      *heldBlock // Block naming: what the store has of the block at done

	tries  int // failures in a row
	due    time.Time
	damage *DamageError
}

// item is one record in hand.
type item struct {
	record   *kgo.Record
	reject   string // reason, or empty for a good record
	resolved bool   // stored, or its dead letter is acknowledged
	dead     *deadLetter
}

// DamageError says that what is committed, what is stored and what the log
// holds contradict each other at Offset, so that going on could overwrite or
// skip data. Landing leaves the partition alone until it is assigned anew; an
// operator restores the object, or resets the group's offset.
type DamageError struct {
	Topic     string
	Partition int32
	Offset    int64
	Reason    string
}

// Error names the partition, the offset at which it stopped, and the reason.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s/%d stopped at offset %d: %s", e.Topic, e.Partition, e.Offset, e.Reason)
}

// begin puts a partition at the group's offset or, if it has none, at the first
// record there is.
func (l *Landing) begin(p *partition, first *kgo.Record) {
	p.done = first.Offset
	committed, ok := l.client.CommittedOffsets()[l.cfg.Topic][p.id]
	if ok {
		p.done, p.epoch = committed.Offset, committed.Epoch
	}
	p.next = p.done
	if l.cfg.Naming == Block && !ok {
		// Nothing is committed: the head of the first block, if the log has lost
		// it, is a hole.
		p.done -= p.done % int64(l.cfg.BlockSize)
	}
	p.committed = p.done
}

// dueAt says when the partition next has something to do by itself.
func (l *Landing) dueAt(p *partition) (time.Time, bool) {
	switch {
	case p.damage != nil:
		return time.Time{}, false
	case p.due.After(time.Now()):
		return p.due, true // if only to be fetched again
	case p.done > p.committed:
		return p.due, true
	case l.cfg.Naming == Record:
		return p.due, len(p.queue) > 0
	case l.wholeBlock(p) || l.needsHeld(p):
		return p.due, true
	case l.cfg.FlushAfter > 0 && len(p.queue) > 0:
		return later(p.due, p.lastTaken.Add(l.cfg.FlushAfter)), true
	}
	return time.Time{}, false
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// step lands what is next and commits what is resolved. It returns true if
// there may be more to do at once.
func (l *Landing) step(ctx context.Context, p *partition) bool {
	if at, ok := l.dueAt(p); !ok || at.After(time.Now()) {
		return false
	}
	land := l.landRecords
	if l.cfg.Naming == Block {
		land = l.landBlock
	}
	what, err := land(ctx, p)
	// What is resolved is committed even when something after it failed.
	if p.damage == nil && p.done > p.committed {
		if commitErr := l.commit(ctx, p); commitErr != nil && err == nil {
			what, err = AlertCommitFailed, commitErr
		}
	}
	if err == nil {
		p.tries, p.due = 0, time.Time{}
		return true
	}
	var damage *DamageError
	switch {
	case errors.As(err, &damage):
		l.damage(p, damage.Offset, damage.Reason)
	case ctx.Err() == nil: // otherwise we are stopping, and nothing is wrong
		l.failed(p, what, err)
	}
	return false
}

// failed plans the next try: soon at first, after a cool-down when the retries
// are used up.
func (l *Landing) failed(p *partition, what string, err error) {
	p.tries++
	if p.tries <= l.cfg.Retries {
		p.due = time.Now().Add(backoffAfter(p.tries, l.cfg.Backoff, l.cfg.CoolDown))
		return
	}
	l.alert(what, "%s/%d stops at offset %d for %v after %d tries: %v",
		l.cfg.Topic, p.id, p.done, l.cfg.CoolDown, p.tries, err)
	p.tries = 0
	p.due = time.Now().Add(l.cfg.CoolDown)
}

// damage stops a partition for good and lets go of what it holds.
func (l *Landing) damage(p *partition, offset int64, reason string) {
	p.damage = &DamageError{Topic: l.cfg.Topic, Partition: p.id, Offset: offset, Reason: reason}
	p.queue, p.held = nil, nil
	l.alert(AlertDamage, "%v", p.damage)
}

// resolve moves done to offset and lets go of the records below it.
func (p *partition) resolve(offset int64) {
	for len(p.queue) > 0 && p.queue[0].record.Offset < offset {
		p.epoch = p.queue[0].record.LeaderEpoch
		p.queue = p.queue[1:]
	}
	p.done = offset
}

// commit tells the group that everything below done is resolved. An error means
// unknown, and the same commit is made again. If it means that the group no
// longer knows us, the client finds out as well, and drops our partitions: until
// it does they are kept, since the records in hand are not fetched twice.
func (l *Landing) commit(ctx context.Context, p *partition) error {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.CallTimeout)
	defer cancel()
	next := kgo.EpochOffset{Epoch: p.epoch, Offset: p.done}
	offsets := map[string]map[int32]kgo.EpochOffset{l.cfg.Topic: {p.id: next}}
	failure := errors.New("the reply names no partition")
	l.client.CommitOffsetsSync(ctx, offsets, func(
		_ *kgo.Client, _ *kmsg.OffsetCommitRequest, reply *kmsg.OffsetCommitResponse, err error,
	) {
		if err != nil {
			failure = err
			return
		}
		for _, topic := range reply.Topics {
			for _, part := range topic.Partitions {
				failure = kerr.ErrorForCode(part.ErrorCode)
			}
		}
	})
	switch {
	case failure == nil:
		p.committed = p.done
		return nil
	case errors.Is(failure, kerr.FencedInstanceID):
		l.fatal = fmt.Errorf("landing: %w", failure)
	case memberIsGone(failure):
		l.hurry.Store(true) // let the client rejoin before more is done in vain
	}
	return fmt.Errorf("committing offset %d: %w", p.done, failure)
}

func memberIsGone(err error) bool {
	return errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.IllegalGeneration) ||
		errors.Is(err, kerr.StaleMemberEpoch) || errors.Is(err, kerr.FencedMemberEpoch) ||
		errors.Is(err, kerr.RebalanceInProgress)
}
