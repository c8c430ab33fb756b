package specs_test

import (
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/model/specs"
)

var landingAt = specs.Topology{
	Topic: "t", DLQ: "d", Group: "g", Proc: "landing", Partitions: 1,
}

// landed is a life of landing: a good record and a reject.
const landed = `
1 1s landing/0 life 1 start
2 1s landing/0 life 1 request OffsetFetch 1 group=g
3 1s landing/0 life 1 reply OffsetFetch 1 done of=2 group=g [t/0]
4 1s landing/0 life 1 reply Fetch 1 done [t/0 end=2 {@0 id=a} {@1 id=b class=bad-time}]
5 2s landing/0 life 1 call put 1 key=t/0/0 digest=d1 [t/0 {@0 id=a}]
6 2s landing/0 life 1 return put 1 done of=5 key=t/0/0 digest=d1 [t/0 {@0 id=a}]
7 2s landing/0 life 1 request Produce 1 producer=1 epoch=0 [d/0 seq=0 {id=b from=t/0@1}]
8 2s landing/0 life 1 reply Produce 1 done of=7 producer=1 epoch=0 [d/0 @0 seq=0 {@0 id=b from=t/0@1}]
9 3s landing/0 life 1 request OffsetCommit 1 group=g [t/0 @2]
10 3s landing/0 life 1 reply OffsetCommit 1 done of=9 group=g [t/0 @2]
11 9s - observe log [t/0 @0 end=2 {@0 id=a} {@1 id=b class=bad-time}]
12 9s - observe log [d/0 @0 end=1 {@0 id=b from=t/0@1}]
13 9s - observe commit group=g [t/0 @2]
14 9s - observe object key=t/0/0 [t/0 {@0 id=a}]
`

var playerAt = specs.Topology{Topic: "t", Proc: "player", Partitions: 1}

// played is a life of a player whose first answer is lost.
const played = `
1 1s player/0 life 1 start
2 1s player/0 life 1 note ask [""/-1 {id=a key=k digest=d1}]
3 1s player/0 life 1 note send [t/-1 {id=a key=k digest=d1}]
4 1s player/0 life 1 request Produce 1 producer=1 epoch=0 [t/0 seq=0 {id=a key=k digest=d1}]
5 1s player/0 life 1 reply Produce 1 unknown of=4 producer=1 epoch=0 [t/0 @0 seq=0 {@0 id=a key=k digest=d1}]
6 2s player/0 life 1 request Produce 2 producer=1 epoch=0 [t/0 seq=0 {id=a key=k digest=d1}]
7 2s player/0 life 1 reply Produce 2 done of=6 producer=1 epoch=0 [t/0 @0 seq=0 {@0 id=a key=k digest=d1}]
8 2s player/0 life 1 note ack done [t/0 {@0 id=a key=k digest=d1}]
9 2s player/0 life 1 note answer done [""/-1 {id=a key=k digest=d1}]
10 9s - observe log [t/0 @0 end=1 {@0 id=a key=k digest=d1 producer=1}]
`

// TestConform changes one line of a history that conforms, and wants the event named
// that fits no behaviour then.
func TestConform(t *testing.T) {
	for _, c := range []struct {
		spec     string
		at       specs.Topology
		history  string
		old, new string
		want     string
	}{
		{"landing", landingAt, landed, "", "", ""},
		// Asked for before the put was answered.
		{"landing", landingAt, landed, "return put 1 done", "return put 1 unknown", "event 9 "},
		{"landing", landingAt, landed, "OffsetCommit 1 group=g [t/0 @2]",
			"OffsetCommit 1 group=g [t/0 @3]", "event 9 "},
		{"landing", landingAt, landed, "call put 1 key=t/0/0", "call put 1 key=t/0/1", "event 5 "},
		{"landing", landingAt, landed, "observe commit group=g [t/0 @2]",
			"observe commit group=g [t/0 @1]", "the group's offset is 1"},
		{"landing", landingAt, landed, "reply Produce 1 done", "reply Produce 1 unknown", "event 9 "},
		{"player", playerAt, played, "", "", ""},
		{"player", playerAt, played, "note ack done", "note ack not-done", "event 8 "},
		{"player", playerAt, played, "note answer done", "note answer not-done", "event 9 "},
		{"player", playerAt, played, "request Produce 2 producer=1 epoch=0 [t/0 seq=0",
			"request Produce 2 producer=1 epoch=0 [t/0 seq=1", "event 6 "},
		{"player", playerAt, played, "observe log [t/0 @0 end=1 {@0 id=a",
			"observe log [t/0 @0 end=1 {@0 id=b", "event 7 "},
	} {
		text := c.history
		if c.old != "" {
			if !strings.Contains(text, c.old) {
				t.Fatalf("%q is not in the history", c.old)
			}
			text = strings.Replace(text, c.old, c.new, 1)
		}
		h, err := model.Read(strings.NewReader(strings.TrimLeft(text, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		e, err := specs.Named(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		got := e.Conform(h, c.at)
		if len(got.Undecided) > 0 {
			t.Errorf("%s with %q: not compared: %v", c.spec, c.new, got.Undecided)
		}
		switch {
		case c.want == "" && len(got.Misfits) > 0:
			t.Errorf("%s: %s", c.spec, got.Misfits[0])
		case c.want == "":
		case len(got.Misfits) == 0:
			t.Errorf("%s with %q conforms", c.spec, c.new)
		case !strings.Contains(got.Misfits[0].String(), c.want):
			t.Errorf("%s with %q: %s, want %q in it", c.spec, c.new, got.Misfits[0], c.want)
		}
	}
}

// TestUndecided: what a specification cannot compare is said, not passed over.
func TestUndecided(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"11 9s - observe log [t/0 @0 end=2 {@0 id=a} {@1 id=b class=bad-time}]",
			"11 9s - observe log [t/0 @0 end=100 {@0 id=a}]", "100 offsets"},
		{"4 1s landing/0 life 1 reply Fetch", "4 1s landing/0 life 1 reply Foo", "says nothing of Foo"},
		{"5 2s landing/0 life 1", "5 2s other/0 life 1", "somebody else writes"},
	} {
		if !strings.Contains(landed, c.old) {
			t.Fatalf("%q is not in the history", c.old)
		}
		text := strings.TrimLeft(strings.Replace(landed, c.old, c.new, 1), "\n")
		h, err := model.Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		e, err := specs.Named("landing")
		if err != nil {
			t.Fatal(err)
		}
		got := e.Conform(h, landingAt)
		if len(got.Undecided) != 1 || !strings.Contains(got.Undecided[0], c.want) {
			t.Errorf("%q: %v, want %q", c.new, got.Undecided, c.want)
		}
	}
}
