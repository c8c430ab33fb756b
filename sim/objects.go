package sim

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/hopcheck/hopcheck/sim/tap"
)

// Objects is an object store in memory with the conditional writes of S3: a put
// applies at once and whole, and is seen by every later get and list. It is safe
// for concurrent use; the zero value is not ready, see [NewObjects].
type Objects struct {
	page int // most keys of one listing, 0 for no limit

	mu   sync.Mutex
	objs map[string]object
}

type object struct {
	body []byte
	etag string
}

// NewObjects returns an empty store.
func NewObjects() *Objects { return &Objects{objs: make(map[string]object)} }

// objects returns the store of a new run.
func (w World) objects() *Objects {
	o := NewObjects()
	o.page = w.ListPage
	for _, key := range sortedKeys(w.Stored) {
		o.put(key, w.Stored[key])
	}
	return o
}

// Put implements [tap.Store].
func (o *Objects) Put(_ context.Context, key string, body []byte) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.put(key, body), nil
}

// PutIf implements [tap.Store].
func (o *Objects) PutIf(
	_ context.Context, key string, body []byte, etag string,
) (bool, string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.objs[key].etag != etag {
		return false, "", nil
	}
	return true, o.put(key, body), nil
}

// put stores a copy. The entity tag is the digest of the bytes, as S3's is.
func (o *Objects) put(key string, body []byte) string {
	etag := tap.Digest(body)
	o.objs[key] = object{body: slices.Clone(body), etag: etag}
	return etag
}

// Get implements [tap.Store]; the error is fs.ErrNotExist where there is none.
func (o *Objects) Get(_ context.Context, key string) ([]byte, string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	obj, ok := o.objs[key]
	if !ok {
		return nil, "", fmt.Errorf("object %q: %w", key, fs.ErrNotExist)
	}
	return slices.Clone(obj.body), obj.etag, nil
}

// List implements [tap.Store].
func (o *Objects) List(
	_ context.Context, prefix, after string, limit int,
) ([]string, error) {
	keys := o.keys(prefix)
	i, found := slices.BinarySearch(keys, after)
	if found {
		i++
	}
	keys = keys[i:]
	if o.page > 0 {
		limit = min(limit, o.page)
	}
	return keys[:min(limit, len(keys))], nil
}

// Delete implements [tap.Store].
func (o *Objects) Delete(_ context.Context, key string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.objs, key)
	return nil
}

func (o *Objects) keys(prefix string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var keys []string
	for key := range o.objs {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
