package tap

import (
	"context"
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// claimed is what a claim returns.
type claimed struct {
	claim  uint64
	keys   []string
	values [][]byte
}

type claimFunc func(ctx context.Context, limit int) (uint64, []string, [][]byte, error)

func (t *tapped) Claim(ctx context.Context, limit int) (uint64, []string, [][]byte, error) {
	return t.claim(ctx, limit, t.db.Claim)
}

func (t *tapped) ClaimRows(ctx context.Context, limit int) (uint64, []string, [][]byte, error) {
	if t.reads == nil {
		return 0, nil, nil, ErrNoReads
	}
	return t.claim(ctx, limit, t.reads.ClaimRows)
}

func (t *tapped) claim(ctx context.Context, limit int, claim claimFunc) (
	uint64, []string, [][]byte, error,
) {
	e := newEvent(model.Call, "claim", 0)
	e.Key = Outbox
	handle := noHandle
	var got claimed
	err := t.cross(ctx, e, &handle, func(ctx context.Context, e *model.Event) (err error) {
		got.claim, got.keys, got.values, err = claim(ctx, limit)
		if err != nil || got.claim == 0 {
			return err
		}
		handle = got.claim
		records := changes(got.keys, got.values)
		if t.witness != nil {
			ids, _ := t.witness.Rows(handle)
			for i, id := range ids {
				records[i].Offset = id
			}
		}
		for i := range records {
			t.add(handle, nil, &records[i])
		}
		e.Note, e.Parts = number("claim", handle), parts(Outbox, records)
		return nil
	})
	if err != nil {
		return 0, nil, nil, err
	}
	return got.claim, got.keys, got.values, nil
}

func (t *tapped) Mark(ctx context.Context, claim uint64) error {
	e := newEvent(model.Call, "mark", 0)
	e.Key, e.Note, e.Parts = Outbox, number("claim", claim), t.take(claim)
	return t.cross(ctx, e, &claim, func(ctx context.Context, e *model.Event) error {
		err := t.db.Mark(ctx, claim)
		if err == nil && t.witness != nil {
			e.LSN = t.witness.Committed(claim)
		}
		return err
	})
}

func (t *tapped) Release(ctx context.Context, claim uint64) error {
	e := newEvent(model.Call, "release", 0)
	e.Key, e.Note, e.Parts = Outbox, number("claim", claim), t.take(claim)
	return t.cross(ctx, e, &claim, func(ctx context.Context, _ *model.Event) error {
		return t.db.Release(ctx, claim)
	})
}

func (t *tapped) After(ctx context.Context, last int64, limit int) (
	[]int64, []string, [][]byte, error,
) {
	if t.reads == nil {
		return nil, nil, nil, ErrNoReads
	}
	e := newEvent(model.Call, "after", 0)
	e.Key, e.Note = Outbox, fmt.Sprintf("id %d", last)
	var ids []int64
	var got claimed
	err := t.cross(ctx, e, nil, func(ctx context.Context, e *model.Event) (err error) {
		ids, got.keys, got.values, err = t.reads.After(ctx, last, limit)
		e.Parts = rows(ids, got)
		return err
	})
	if err != nil {
		return nil, nil, nil, err
	}
	return ids, got.keys, got.values, nil
}

func (t *tapped) Horizon(ctx context.Context, xid uint64, id int64, limit int) (
	[]uint64, []int64, []string, [][]byte, error,
) {
	if t.reads == nil {
		return nil, nil, nil, nil, ErrNoReads
	}
	e := newEvent(model.Call, "horizon", 0)
	e.Key, e.Note = Outbox, fmt.Sprintf("after %d, %d", xid, id)
	var xids []uint64
	var ids []int64
	var got claimed
	err := t.cross(ctx, e, nil, func(ctx context.Context, e *model.Event) (err error) {
		xids, ids, got.keys, got.values, err = t.reads.Horizon(ctx, xid, id, limit)
		e.Parts = rows(ids, got)
		return err
	})
	if err != nil {
		return nil, nil, nil, nil, err
	}
	return xids, ids, got.keys, got.values, nil
}

// RowLSN implements [DatabaseReads].
func (t *tapped) RowLSN(lsn string) string {
	if t.reads == nil {
		return ""
	}
	return t.reads.RowLSN(lsn)
}

func rows(ids []int64, got claimed) []model.Part {
	records := changes(got.keys, got.values)
	for i, id := range ids {
		records[i].Offset = id
	}
	return parts(Outbox, records)
}
