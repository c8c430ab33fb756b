package hops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// abortTries bounds the tries to abort one transaction. Each takes up to
// CallTimeout; after that a new process begins anew.
const abortTries = 20

// end ends the transaction, and says whether it is known to be committed. If the
// outcome is unknown, the transaction is aborted: the client then initialises its
// producer id again, but at the epoch that it holds, so that a broker refuses it
// if somebody else owns the identity by now. A commit that is still under way
// loses against that, or has won before. An error ends Run.
func (v *Validated) end(ctx context.Context, commit kgo.TransactionEndTry) (bool, error) {
	call, cancel := context.WithTimeout(ctx, v.cfg.CallTimeout)
	defer cancel()
	committed, err := v.session.End(call, commit)
	for n := 0; err != nil; n++ {
		if isFenced(err) || errors.Is(err, kgo.ErrClientClosed) || n == abortTries {
			return false, fmt.Errorf("ending a transaction: %w", err)
		}
		v.alert(AlertAborted, "ending a transaction: %v", err)
		if n > 0 {
			v.failed++
			v.rest(ctx)
		}
		err = v.abort(ctx)
	}
	return committed, nil
}

// abort does nothing if the transaction is over as far as the client knows.
func (v *Validated) abort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, v.cfg.CallTimeout)
	defer cancel()
	if err := v.session.Client().AbortBufferedRecords(ctx); err != nil {
		return fmt.Errorf("waiting for produces to end: %w", err)
	}
	return v.session.Client().EndTransaction(ctx, kgo.TryAbort)
}

// rewind sets the position to what the group has committed, by asking it. The
// session has rewound already, but to the commits that it knows of: after a
// commit whose reply was lost those are too old, and the records would be carried
// over twice. It returns when that is done or ctx is; an error ends Run.
func (v *Validated) rewind(ctx context.Context) error {
	for ctx.Err() == nil {
		before := v.moved()
		// Outside a transaction this asks no broker. It makes the session call
		// gone again, which it does once between two ends.
		_, err := v.session.End(ctx, kgo.TryAbort)
		var offsets map[string]map[int32]kgo.EpochOffset
		if err == nil {
			offsets, err = v.committed(ctx)
		}
		switch {
		case err == nil && v.setOffsets(offsets, before):
			return nil
		case isFenced(err), errors.Is(err, kgo.ErrClientClosed):
			return err
		}
		v.failed++
		v.rest(ctx)
	}
	return nil
}

// setOffsets moves to offsets unless partitions went away since before: one that
// went and came back may have been committed further by its owner in between.
func (v *Validated) setOffsets(offsets map[string]map[int32]kgo.EpochOffset, before int) bool {
	v.assign.Lock()
	defer v.assign.Unlock()
	if v.moves != before {
		return false
	}
	v.session.Client().SetOffsets(offsets) // skips what is not assigned
	return true
}

// gone is called when partitions are revoked or lost, before they are. The
// session aborts the transaction by itself.
func (v *Validated) gone(context.Context, *kgo.Client, map[string][]int32) {
	v.assign.Lock()
	defer v.assign.Unlock()
	v.moves++
}

func (v *Validated) moved() int {
	v.assign.Lock()
	defer v.assign.Unlock()
	return v.moves
}

// committed asks the group for its offsets of all partitions seen, once no
// transaction is open that may still move them. A partition without a commit is
// left out: nothing of it was ever committed, and the session knows its start.
func (v *Validated) committed(
	ctx context.Context,
) (map[string]map[int32]kgo.EpochOffset, error) {
	ctx, cancel := context.WithTimeout(ctx, v.cfg.CallTimeout)
	defer cancel()
	client := v.session.Client()
	topic := kmsg.NewOffsetFetchRequestGroupTopic()
	topic.Topic = v.cfg.Input
	topic.Partitions = slices.Sorted(maps.Keys(v.seen))
	ask := kmsg.NewOffsetFetchRequestGroup()
	ask.Group = v.cfg.Group
	ask.Topics = append(ask.Topics, topic)
	if member, generation := client.GroupMetadata(); member != "" {
		ask.MemberID, ask.MemberEpoch = &member, generation
	}
	request := kmsg.NewPtrOffsetFetchRequest()
	request.RequireStable = true
	request.Groups = append(request.Groups, ask)
	reply, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("asking group %s for its offsets: %w", v.cfg.Group, err)
	}
	if len(reply.Groups) != 1 {
		return nil, fmt.Errorf("asking group %s for its offsets: %d groups in the reply",
			v.cfg.Group, len(reply.Groups))
	}
	return v.offsetsIn(&reply.Groups[0])
}

func (v *Validated) offsetsIn(
	reply *kmsg.OffsetFetchResponseGroup,
) (map[string]map[int32]kgo.EpochOffset, error) {
	err := kerr.ErrorForCode(reply.ErrorCode)
	offsets := make(map[int32]kgo.EpochOffset)
	for _, topic := range reply.Topics {
		for _, p := range topic.Partitions {
			if err == nil {
				err = kerr.ErrorForCode(p.ErrorCode)
			}
			if p.Offset >= 0 {
				offsets[p.Partition] = kgo.EpochOffset{Epoch: p.LeaderEpoch, Offset: p.Offset}
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("asking group %s for its offsets: %w", v.cfg.Group, err)
	}
	return map[string]map[int32]kgo.EpochOffset{v.cfg.Input: offsets}, nil
}
