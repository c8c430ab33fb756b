//go:build synctests

package hops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// clerk is a database that notes what a registrar asks of it, and fails one call.
type clerk struct {
	calls []string
	fails string
}

func (c *clerk) call(name string, args ...any) error {
	c.calls = append(c.calls, strings.TrimSpace(name+" "+fmt.Sprint(args...)))
	if name == c.fails {
		return errors.New("no answer")
	}
	return nil
}

func (c *clerk) Begin(context.Context) (uint64, error) { return 7, c.call("begin") }

func (c *clerk) Enroll(_ context.Context, tx uint64, learner, course, op string) error {
	return c.call("enroll", tx, learner+" "+course+" "+op)
}

func (c *clerk) Publish(_ context.Context, tx uint64, learner, course, op string) error {
	return c.call("publish", tx, learner+" "+course+" "+op)
}

func (c *clerk) Commit(_ context.Context, tx uint64) error   { return c.call("commit", tx) }
func (c *clerk) Rollback(_ context.Context, tx uint64) error { return c.call("rollback", tx) }

// Only a commit without an answer leaves a change in doubt.
func TestRegistrarOutcomes(t *testing.T) {
	both := []string{"begin", "enroll 7ada go-101 enrolled", "publish 7ada go-101 enrolled"}
	for _, test := range []struct {
		fails   string
		outcome Outcome
		calls   []string
	}{
		{"", Done, append(both[:3:3], "commit 7")},
		{"begin", NotDone, both[:1]},
		{"enroll", NotDone, append(both[:2:2], "rollback 7")},
		{"publish", NotDone, append(both[:3:3], "rollback 7")},
		{"commit", Unknown, append(both[:3:3], "commit 7")},
	} {
		store := &clerk{fails: test.fails}
		registrar, err := NewRegistrar(RegistrarConfig{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		err = registrar.Enroll(t.Context(), "ada", "go-101", OpEnrolled, false)
		var failed *ChangeError
		outcome := Done
		if errors.As(err, &failed) {
			outcome = failed.Outcome
		}
		if outcome != test.outcome || (err == nil) != (outcome == Done) {
			t.Errorf("%s fails: %v, want %s", test.fails, err, test.outcome)
		}
		if diff := cmp.Diff(test.calls, store.calls); diff != "" {
			t.Errorf("%s fails: %s", test.fails, diff)
		}
	}
}

func TestRegistrarPublishFirst(t *testing.T) {
	store := &clerk{}
	registrar, err := NewRegistrar(RegistrarConfig{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	if err := registrar.Enroll(t.Context(), "ada", "go-101", OpDropped, true); err != nil {
		t.Error(err)
	}
	want := []string{
		"begin", "publish 7ada go-101 dropped", "enroll 7ada go-101 dropped", "commit 7",
	}
	if diff := cmp.Diff(want, store.calls); diff != "" {
		t.Error(diff)
	}
}

func TestRegistrarRefuses(t *testing.T) {
	if _, err := NewRegistrar(RegistrarConfig{}); err == nil {
		t.Error("a registrar without a store")
	}
	store := &clerk{}
	registrar, err := NewRegistrar(RegistrarConfig{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][3]string{
		{"", "go-101", OpEnrolled}, {"ada", "", OpEnrolled}, {"ada", "go-101", "paused"},
		{"ada/eve", "go-101", OpEnrolled},
	} {
		var failed *ChangeError
		err := registrar.Enroll(t.Context(), change[0], change[1], change[2], false)
		if !errors.As(err, &failed) || failed.Outcome != NotDone {
			t.Errorf("%q: %v", change, err)
		}
	}
	if len(store.calls) > 0 {
		t.Errorf("calls: %v", store.calls)
	}
}
