package hops

import "context"

// ObjectStore is what hops need from an object store. Signatures use only
// built-in and standard types, so an adapter need not import this package.
//
// An error other than fs.ErrNotExist from Get means that the outcome is
// unknown: the call may have been applied. A store must be safe for concurrent
// use and must return when its context ends.
type ObjectStore interface {
	ObjectPutter
	ObjectConditional
	ObjectLister
	ObjectDeleter
}

// ObjectPutter replaces objects. Record naming needs nothing else.
type ObjectPutter interface {
	// Put stores body under key, whatever was there before, and returns the new
	// etag. An error means unknown: stored or not.
	Put(ctx context.Context, key string, body []byte) (etag string, err error)
}

// ObjectConditional reads objects and replaces them only if they are still what
// was read. Block naming needs nothing else.
type ObjectConditional interface {
	// PutIf stores body under key if the object's etag is still etag, or, with
	// an empty etag, if there is no object. ok false with a nil error means
	// refused: nothing was stored. An error means unknown.
	PutIf(ctx context.Context, key string, body []byte, etag string) (
		ok bool, newETag string, err error)
	// Get returns the object and its etag. errors.Is(err, fs.ErrNotExist) holds
	// when there is none.
	Get(ctx context.Context, key string) (body []byte, etag string, err error)
}

// ObjectLister names objects, for readers.
type ObjectLister interface {
	// List returns up to limit keys that start with prefix and sort after after,
	// in byte order.
	List(ctx context.Context, prefix, after string, limit int) (keys []string, err error)
}

// ObjectDeleter removes objects. Landing never does; clean-up jobs do.
type ObjectDeleter interface {
	// Delete removes key; a key that is absent is no error. An error means
	// unknown.
	Delete(ctx context.Context, key string) error
}
