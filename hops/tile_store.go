package hops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// listPage is how many keys are asked for at a time.
const listPage = 1000

// key names an object of the tile.
func (t *Tile) key(name string) string { return t.cfg.Prefix + "/" + name }

// insist makes a call until it is known to be done. An error means unknown, so a
// call must be one that may be made again. It gives up when ctx ends or the error
// is a verdict.
func (t *Tile) insist(
	ctx context.Context, doing string, call func(context.Context) error,
) error {
	for tries := 1; ; tries++ {
		once, cancel := context.WithTimeout(ctx, t.cfg.CallTimeout)
		err := call(once)
		cancel()
		switch {
		case err == nil:
			return nil
		case final(err):
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", doing, ctx.Err())
		}
		wait := backoffAfter(tries, t.cfg.Backoff, t.cfg.CoolDown)
		if tries > t.cfg.Retries {
			wait = t.cfg.CoolDown
			t.alert(AlertTileCallFailed, "%s rests for %v after %d tries: %v",
				doing, wait, tries, err)
			tries = 0
		}
		sleep(ctx, wait)
	}
}

// get returns an object; ok is false when there is none.
func (t *Tile) get(ctx context.Context, key string) (body []byte, ok bool, err error) {
	err = t.insist(ctx, "reading "+key, func(ctx context.Context) (err error) {
		body, ok, err = getObject(ctx, t.cfg.Store, key)
		return err
	})
	return body, ok, err
}

func getObject(
	ctx context.Context, store ObjectConditional, key string,
) (body []byte, ok bool, err error) {
	body, _, err = store.Get(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return body, err == nil, err
}

// put stores an object under a name that is ours alone.
func (t *Tile) put(ctx context.Context, key string, body []byte) error {
	return t.insist(ctx, "putting "+key, func(ctx context.Context) error {
		_, err := t.cfg.Store.Put(ctx, key, body)
		return err
	})
}

// create stores an object where none is. It returns false when there is one with
// another content. One with the same content is ours: a put of which the reply
// was lost, and what we create names this run or parts of its own.
func (t *Tile) create(ctx context.Context, key string, body []byte) (bool, error) {
	created := false
	err := t.insist(ctx, "creating "+key, func(ctx context.Context) (err error) {
		created, _, err = t.cfg.Store.PutIf(ctx, key, body, "")
		return err
	})
	if err != nil || created {
		return created, err
	}
	has, ok, err := t.get(ctx, key)
	return ok && bytes.Equal(has, body), err
}

// list returns the names in a folder of the tile, without the folder.
func (t *Tile) list(ctx context.Context, dir string) (names []string, err error) {
	err = t.insist(ctx, "listing "+t.key(dir), func(ctx context.Context) (err error) {
		names, err = listNames(ctx, t.cfg.Store, t.key(dir))
		return err
	})
	return names, err
}

// listNames lists page by page, until a page is empty.
func listNames(ctx context.Context, store ObjectLister, dir string) ([]string, error) {
	var names []string
	for after := ""; ; {
		keys, err := store.List(ctx, dir, after, listPage)
		if err != nil {
			return nil, err
		}
		if len(keys) == 0 {
			return names, nil
		}
		for _, key := range keys {
			names = append(names, strings.TrimPrefix(key, dir))
		}
		after = keys[len(keys)-1]
	}
}

// remove deletes what nothing needs any more. A failure is no failure of the
// tile: the next compaction tries again.
func (t *Tile) remove(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.CallTimeout)
	defer cancel()
	if err := t.cfg.Store.Delete(ctx, key); err != nil && ctx.Err() == nil {
		t.alert(AlertTileCallFailed, "deleting %s, left to the next compaction: %v", key, err)
	}
}
