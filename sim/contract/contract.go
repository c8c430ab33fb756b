package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/hopcheck/hopcheck/sim/tap"
)

// Store tests what [tap.Store] promises. It calls fresh for a store without objects,
// once for each sentence; fresh may end the test. The stores are used from several
// goroutines at once.
func Store(t *testing.T, fresh func(t *testing.T) tap.Store) {
	for _, s := range sentences {
		t.Run(s.name, func(t *testing.T) { s.test(shop{t, fresh(t)}) })
	}
}

var sentences = []struct {
	name string
	test func(shop)
}{
	{"a get returns what was put last", lastPut},
	{"a get of nothing is fs.ErrNotExist", nothing},
	{"bodies belong to who holds them", copies},
	{"keys are kept byte by byte", keys},
	{"putif with no tag wants no object", putNew},
	{"putif with a tag wants that object", putSame},
	{"a tag of equal bytes is equal, or both are never seen again", tags},
	{"delete removes, and again is no error", deletes},
	{"list is sorted, by prefix, after a key", lists},
	{"list pages through everything", pages},
	{"one of many conditional puts wins", oneWins},
	{"a put is seen whole", whole},
}

// shop is a store under test. What its calls return as an error ends the test.
type shop struct {
	*testing.T
	store tap.Store
}

func (s shop) put(key, body string) (etag string) {
	s.Helper()
	etag, err := s.store.Put(s.Context(), key, []byte(body))
	if err != nil {
		s.Fatalf("put %s: %v", key, err)
	}
	if etag == "" {
		s.Errorf("put %s gave no entity tag", key)
	}
	return etag
}

func (s shop) putIf(key, body, etag string) (ok bool, now string) {
	s.Helper()
	ok, now, err := s.store.PutIf(s.Context(), key, []byte(body), etag)
	if err != nil {
		s.Fatalf("putif %s %q: %v", key, etag, err)
	}
	if ok != (now != "") {
		s.Errorf("putif %s %q returned %v with the tag %q", key, etag, ok, now)
	}
	return ok, now
}

// holds wants an object with this body, and returns its tag.
func (s shop) holds(key, body string) (etag string) {
	s.Helper()
	got, etag, err := s.store.Get(s.Context(), key)
	if err != nil {
		s.Fatalf("get %s: %v", key, err)
	}
	if string(got) != body || etag == "" {
		s.Errorf("%s holds %q with the tag %q, not %q", key, got, etag, body)
	}
	return etag
}

func (s shop) lacks(key string) {
	s.Helper()
	body, etag, err := s.store.Get(s.Context(), key)
	if !errors.Is(err, fs.ErrNotExist) || len(body) != 0 || etag != "" {
		s.Errorf("get %s, which is not there: %q, %q, %v", key, body, etag, err)
	}
}

func (s shop) lists(prefix, after string, limit int, want ...string) {
	s.Helper()
	got, err := s.store.List(s.Context(), prefix, after, limit)
	if err != nil {
		s.Fatalf("list %q after %q: %v", prefix, after, err)
	}
	if !slices.Equal(got, want) {
		s.Errorf("list %q after %q, up to %d: %q, not %q", prefix, after, limit, got, want)
	}
}

func lastPut(s shop) {
	for _, body := range []string{"one", "two", "", "three"} {
		if etag := s.put("k", body); s.holds("k", body) != etag {
			s.Errorf("the tags of put and get differ for %q", body)
		}
	}
}

func nothing(s shop) {
	s.lacks("k")
	s.put("k2", "x")
	s.lacks("k")
	s.lists("", "", 10, "k2")
}

func copies(s shop) {
	body := []byte("abc")
	if _, err := s.store.Put(s.Context(), "k", body); err != nil {
		s.Fatal(err)
	}
	body[0] = 'X'
	s.holds("k", "abc")
	got, _, err := s.store.Get(s.Context(), "k")
	if err != nil {
		s.Fatal(err)
	}
	got[0] = 'X'
	s.holds("k", "abc")
	body = []byte("def")
	if _, _, err := s.store.PutIf(s.Context(), "n", body, ""); err != nil {
		s.Fatal(err)
	}
	body[0] = 'X'
	s.holds("n", "def")
}

func keys(s shop) {
	all := []string{"a", "a b", "a+b", "a/b", "a=0/p.jsonl", "aB", "a~", "ä"}
	for _, key := range all {
		s.put(key, "in "+key)
	}
	for _, key := range all {
		s.holds(key, "in "+key)
	}
	s.lists("a", "", 100, all[:len(all)-1]...)
}

func putNew(s shop) {
	ok, first := s.putIf("k", "one", "")
	if !ok || s.holds("k", "one") != first {
		s.Error("a conditional put of a new object did not take")
	}
	if ok, _ := s.putIf("k", "two", ""); ok {
		s.Error("an object that is there was replaced")
	}
	s.holds("k", "one")
	if err := s.store.Delete(s.Context(), "k"); err != nil {
		s.Fatal(err)
	}
	if ok, _ := s.putIf("k", "three", ""); !ok {
		s.Error("an object that was deleted counts as being there")
	}
	s.holds("k", "three")
	s.put("empty", "")
	if ok, _ := s.putIf("empty", "x", ""); ok {
		s.Error("an empty object counts as none")
	}
}

func putSame(s shop) {
	first := s.put("k", "one")
	ok, second := s.putIf("k", "two", first)
	if !ok || second == first || s.holds("k", "two") != second {
		s.Errorf("putif with the right tag: %v, tag %q after %q", ok, second, first)
	}
	if ok, _ := s.putIf("k", "three", first); ok {
		s.Error("putif with an old tag replaced the object")
	}
	s.holds("k", "two")
	if ok, _ := s.putIf("other", "x", second); ok {
		s.Error("putif with a tag made an object that was not there")
	}
	s.lacks("other")
	if ok, again := s.putIf("k", "two", second); !ok || s.holds("k", "two") != again {
		s.Error("putif of the same bytes with the right tag did not take")
	}
}

// tags: a tag that named other bytes must never come back for these.
func tags(s shop) {
	seen := make(map[string]string)
	for _, body := range []string{"a", "b", "a", "", "c", "b"} {
		etag := s.put("k", body)
		if other, ok := seen[etag]; ok && other != body {
			s.Errorf("%q and %q have the same tag", body, other)
		}
		seen[etag] = body
	}
}

func deletes(s shop) {
	s.put("k", "x")
	s.put("kk", "y")
	for range 2 {
		if err := s.store.Delete(s.Context(), "k"); err != nil {
			s.Fatalf("delete: %v", err)
		}
		s.lacks("k")
		s.lists("k", "", 10, "kk")
	}
}

func lists(s shop) {
	for _, key := range []string{"b/2", "a/1", "b/1", "b/10", "b", "c/1", "b/1/x"} {
		s.put(key, key)
	}
	s.lists("", "", 100, "a/1", "b", "b/1", "b/1/x", "b/10", "b/2", "c/1")
	s.lists("b/", "", 100, "b/1", "b/1/x", "b/10", "b/2")
	s.lists("b/", "b/1", 100, "b/1/x", "b/10", "b/2")
	s.lists("b/", "b/1/zz", 100, "b/10", "b/2") // a key that is not there
	s.lists("b/", "a", 100, "b/1", "b/1/x", "b/10", "b/2")
	s.lists("b/", "b/2", 100)
	s.lists("b/", "c", 100)
	s.lists("nothing", "", 100)
	s.lists("b/", "", 2, "b/1", "b/1/x")
	s.lists("b/", "b/1/x", 1, "b/10")
}

func pages(s shop) {
	var want []string
	for i := range 25 {
		key := fmt.Sprintf("p/%03d", i)
		s.put(key, key)
		want = append(want, key)
	}
	s.put("q", "")
	for _, limit := range []int{1, 7, 25, 26} {
		var got []string
		after := ""
		for range 100 {
			page, err := s.store.List(s.Context(), "p/", after, limit)
			if err != nil {
				s.Fatal(err)
			}
			if len(page) > limit {
				s.Errorf("a page of %d keys, of up to %d", len(page), limit)
			}
			if len(page) == 0 {
				break
			}
			got, after = append(got, page...), page[len(page)-1]
		}
		if !slices.Equal(got, want) {
			s.Errorf("in pages of %d: %q", limit, got)
		}
	}
}

// oneWins has many writers count up one object, each with the tag that it read.
func oneWins(s shop) {
	const writers, rounds = 4, 10
	s.put("k", "")
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for won := 0; won < rounds; {
				body, etag, err := s.store.Get(s.Context(), "k")
				if err != nil {
					s.Errorf("get: %v", err)
					return
				}
				ok, _, err := s.store.PutIf(s.Context(), "k", append(body, 'x'), etag)
				if err != nil {
					s.Errorf("putif: %v", err)
					return
				}
				if ok {
					won++
				}
			}
		})
	}
	all.Wait()
	body, _, err := s.store.Get(s.Context(), "k")
	if err != nil || len(body) != writers*rounds {
		s.Errorf("%d of %d conditional puts are there, %v", len(body), writers*rounds, err)
	}
}

// whole reads an object while it is replaced by others of one letter each.
func whole(s shop) {
	const size, rounds = 1 << 12, 20
	s.put("k", "")
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			body := bytes.Repeat([]byte{byte('a' + i)}, size)
			for range rounds {
				if _, err := s.store.Put(s.Context(), "k", body); err != nil {
					s.Errorf("put: %v", err)
				}
				got, _, err := s.store.Get(s.Context(), "k")
				if err != nil || len(got) != size || bytes.Count(got, got[:1]) != size {
					s.Errorf("a get returned %d bytes that are not one body, %v", len(got), err)
				}
				if _, err := s.store.List(s.Context(), "", "", 10); err != nil {
					s.Errorf("list: %v", err)
				}
			}
		})
	}
	all.Wait()
}
