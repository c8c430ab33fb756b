package tap

import (
	"context"

	"github.com/hopcheck/hopcheck/model"
)

func (t *tapped) Stream(ctx context.Context, from string) error {
	e := newEvent(model.Call, "stream", 0)
	e.Key, e.LSN = "slot", from
	return t.cross(ctx, e, streaming, func(ctx context.Context, e *model.Event) error {
		err := t.db.Stream(ctx, from)
		if err == nil && t.witness != nil {
			e.LSN = max(from, t.witness.Confirmed()) // where it really begins
		}
		return err
	})
}

func (t *tapped) Next(ctx context.Context) (lsn, key string, value []byte, err error) {
	e := newEvent(model.Call, "next", 0)
	e.Key = "slot"
	var at, k string
	var v []byte
	err = t.cross(ctx, e, streaming, func(ctx context.Context, e *model.Event) (err error) {
		at, k, v, err = t.db.Next(ctx)
		if err != nil {
			return err
		}
		if e.LSN = at; k == "" {
			e.Note = "keepalive"
			return nil
		}
		e.Key, e.Bytes = k, int64(len(v))
		e.Parts = parts(Enrollments, changes([]string{k}, [][]byte{v}))
		return nil
	})
	if err != nil {
		return "", "", nil, err
	}
	return at, k, v, nil
}

func (t *tapped) Confirm(ctx context.Context, lsn string) error {
	e := newEvent(model.Call, "confirm", 0)
	e.Key, e.LSN = "slot", lsn
	return t.cross(ctx, e, streaming, func(ctx context.Context, _ *model.Event) error {
		return t.db.Confirm(ctx, lsn)
	})
}
