package sim_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/contract"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// TestObjectsContract: the store in memory keeps what live mode's keeps.
func TestObjectsContract(t *testing.T) {
	contract.Store(t, func(*testing.T) tap.Store { return sim.NewObjects() })
}

// TestObjectsTagIsDigest: the entity tag tells equal bytes, as S3's does; a property
// that compares objects by their tags relies on it.
func TestObjectsTagIsDigest(t *testing.T) {
	o := sim.NewObjects()
	for _, key := range []string{"k", "l", "k"} {
		etag, err := o.Put(t.Context(), key, []byte("body"))
		if want := tap.Digest([]byte("body")); etag != want || err != nil {
			t.Errorf("the tag of %s is %q, %v, not %q", key, etag, err, want)
		}
	}
}

// TestObjectsListNothing: a page of nothing is empty, whatever is there.
func TestObjectsListNothing(t *testing.T) {
	o := sim.NewObjects()
	if _, err := o.Put(t.Context(), "k", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := o.List(t.Context(), "", "", 0); len(got) != 0 || err != nil {
		t.Errorf("a list of up to 0 keys: %q, %v", got, err)
	}
}
