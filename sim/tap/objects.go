package tap

import (
	"context"
	"errors"
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// Store is an object store as a hop sees one. Simulation has one in memory, live
// mode one on S3.
//
// An error means that the outcome is unknown: the call may have been applied.
// Only a refused condition (PutIf's false) and fs.ErrNotExist are answers.
type Store interface {
	// Put replaces the object and returns its entity tag.
	Put(ctx context.Context, key string, body []byte) (etag string, err error)
	// PutIf replaces the object if its entity tag is etag; "" means that there
	// must be none. It returns false, and no error, where the condition refused.
	PutIf(ctx context.Context, key string, body []byte, etag string) (
		ok bool, newETag string, err error)
	// Get returns the object, or an error that is fs.ErrNotExist.
	Get(ctx context.Context, key string) (body []byte, etag string, err error)
	// List returns up to limit keys with the prefix that sort after the given one.
	List(ctx context.Context, prefix, after string, limit int) ([]string, error)
	// Delete removes the object; one that is not there is no error.
	Delete(ctx context.Context, key string) error
}

// Describe tells which records an object holds and what it counts, so that a
// history can say so. A key that it does not know gives nothing.
type Describe func(key string, body []byte) ([]model.Part, []model.Count)

// Objects is a [Store] whose calls cross the boundary of a life. It is safe for
// concurrent use as far as the inner store is.
type Objects struct {
	life     *Life
	store    Store
	describe Describe
}

// NewObjects returns store seen through the boundary of life. A nil describe
// leaves the contents of objects out of the history.
func NewObjects(life *Life, store Store, describe Describe) *Objects {
	if describe == nil {
		describe = func(string, []byte) ([]model.Part, []model.Count) { return nil, nil }
	}
	return &Objects{life: life, store: store, describe: describe}
}

// Put is [Store.Put] through the boundary.
func (o *Objects) Put(ctx context.Context, key string, body []byte) (etag string, err error) {
	e := o.write("put", key, body)
	var tag string // not the result itself: a call that is applied late would race with it
	err = o.cross(ctx, e, func(ctx context.Context, e *model.Event) (err error) {
		tag, err = o.store.Put(ctx, key, body)
		e.ETag = tag
		return err
	})
	if err != nil {
		return "", err
	}
	return tag, nil
}

// PutIf is [Store.PutIf] through the boundary.
func (o *Objects) PutIf(
	ctx context.Context, key string, body []byte, etag string,
) (ok bool, newETag string, err error) {
	e := o.write("putif", key, body)
	e.ETag = etag
	var did bool
	var tag string
	err = o.cross(ctx, e, func(ctx context.Context, e *model.Event) (err error) {
		did, tag, err = o.store.PutIf(ctx, key, body, etag)
		e.ETag = tag
		if err == nil && !did {
			e.Outcome, e.Err = model.NotDone, "precondition"
		}
		return err
	})
	var refused *Refused
	if errors.As(err, &refused) && refused.Code == "precondition" {
		return false, "", nil
	}
	if err != nil {
		return false, "", err
	}
	return did, tag, nil
}

// Get is [Store.Get] through the boundary.
func (o *Objects) Get(ctx context.Context, key string) (body []byte, etag string, err error) {
	e := newEvent(model.Call, "get", 0)
	e.Key = key
	var got []byte
	var tag string
	err = o.cross(ctx, e, func(ctx context.Context, e *model.Event) (err error) {
		got, tag, err = o.store.Get(ctx, key)
		e.ETag, e.Bytes = tag, int64(len(got))
		if err == nil {
			e.Digest = Digest(got)
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return got, tag, nil
}

// List is [Store.List] through the boundary.
func (o *Objects) List(
	ctx context.Context, prefix, after string, limit int,
) (keys []string, err error) {
	e := newEvent(model.Call, "list", 0)
	e.Key = prefix
	var found []string
	err = o.cross(ctx, e, func(ctx context.Context, e *model.Event) (err error) {
		found, err = o.store.List(ctx, prefix, after, limit)
		e.Note = fmt.Sprintf("%d keys", len(found))
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Delete is [Store.Delete] through the boundary.
func (o *Objects) Delete(ctx context.Context, key string) error {
	e := newEvent(model.Call, "delete", 0)
	e.Key = key
	return o.cross(ctx, e, func(ctx context.Context, _ *model.Event) error {
		return o.store.Delete(ctx, key)
	})
}

func (o *Objects) write(op, key string, body []byte) model.Event {
	e := newEvent(model.Call, op, len(body))
	e.Key, e.Digest = key, Digest(body)
	e.Parts, e.Counts = o.describe(key, body)
	return e
}

// cross takes one call over the boundary and back.
func (o *Objects) cross(
	ctx context.Context, e model.Event, apply func(context.Context, *model.Event) error,
) error {
	return o.life.Call(ctx, Call{Event: e, Apply: apply})
}
