package props_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/props"
)

// edge is a history at the edge of a promise, and what must be found in it: a part
// of each witness, nothing where the promise holds.
type edge struct {
	name    string
	history string
	want    []string
}

func checkEdges(t *testing.T, p props.Property, edges []edge) {
	t.Helper()
	for _, e := range edges {
		t.Run(e.name, func(t *testing.T) {
			t.Helper()
			var got []string
			for _, b := range p.Check(parse(t, e.history)) {
				got = append(got, b.Witness)
			}
			contains := cmp.Comparer(func(a, b string) bool {
				return strings.Contains(a, b) || strings.Contains(b, a)
			})
			if diff := cmp.Diff(e.want, got, contains); diff != "" {
				t.Errorf("witnesses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAckedIsStoredEdges(t *testing.T) {
	checkEdges(t, props.AckedIsStored("t"), []edge{
		{"not somewhere, but there", `
1 1s p/0 life 1 note ack done [t/0 {@1 id=a}]
2 9s - observe log [t/0 @0 end=2 {@0 id=a} {@1 id=b}]
`, []string{"id a was acked at t/0@1, where the log holds id b"}},
		{"the wrong partition", `
1 1s p/0 life 1 note ack done [t/1 {@0 id=a}]
2 9s - observe log [t/0 @0 end=1 {@0 id=a}]
3 9s - observe log [t/1 @0 end=0]
`, []string{"id a was acked at t/1@0, where the log holds nothing"}},
		{"retention took it, and the answered id", `
1 1s p/0 life 1 reply Produce 1 done [t/0 @2 {@2 id=a}]
2 1s p/0 life 1 note ack done [t/0 {@2 id=a}]
3 1s p/0 life 1 note answer done [""/-1 {id=a}]
4 9s - observe log [t/0 @3 end=3]
`, nil},
		{"the first that retention left", `
1 1s p/0 life 1 note ack done [t/0 {@3 id=a}]
2 9s - observe log [t/0 @3 end=3]
`, []string{"id a was acked at t/0@3, where the log holds nothing"}},
		{"a marker is not the record", `
1 1s p/0 life 1 note ack done [t/0 {@0 id=a}]
2 9s - observe log [t/0 @0 end=1 {@0 commit}]
`, []string{"where the log holds a control record"}},
		{"aborted is there for the ack, not for the answer", `
1 1s p/0 life 1 note ack done [t/0 {@0 id=a}]
2 1s p/0 life 1 note answer done [""/-1 {id=a}]
3 9s - observe log [t/0 @0 end=2 {@0 aborted id=a} {@1 abort}]
`, []string{"id a was answered done, and no copy of it is in t"}},
		{"only done promises anything", `
1 1s p/0 life 1 note ack unknown [t/-1 {id=a}]
2 1s p/0 life 1 note ack not-done [t/-1 {id=b}]
3 1s p/0 life 1 note answer unknown [""/-1 {id=a}]
4 9s - observe log [t/0 @0 end=0]
`, nil},
		{"an ack without an offset", `
1 1s p/0 life 1 note ack done [t/0 {id=a}]
2 1s p/0 life 1 note ack done [t/0 {id=b}]
3 9s - observe log [t/0 @0 end=1 {@0 id=a}]
`, []string{"id b was acked without an offset"}},
		{"a partition that could not be read", `
1 1s p/0 life 1 note ack done [t/1 {@0 id=a}]
2 1s p/0 life 1 note answer done [""/-1 {id=a}]
3 9s - observe log [t/0 @0 end=0]
4 9s - observe log [t/1 err=NOT_LEADER_FOR_PARTITION]
`, nil},
		{"another topic", `
1 1s p/0 life 1 note ack done [u/0 {@0 id=a}]
2 9s - observe log [t/0 @0 end=0]
`, nil},
	})
}

func TestProducerEdges(t *testing.T) {
	checkEdges(t, props.NoUnaskedAppend("t"), []edge{
		{"never sent", "1 9s - observe log [t/0 @0 end=1 {@0 id=a}]\n",
			[]string{"t/0@0 is copy 1 of id a, which was sent never"}},
		{"sent to another topic", `
1 1s p/0 life 1 note send [u/-1 {id=a}]
2 9s - observe log [t/0 @0 end=1 {@0 id=a}]
`, []string{"sent never"}},
		{"copies in two partitions, one aborted", `
1 1s p/0 life 1 note send [t/-1 {id=a}]
2 9s - observe log [t/0 @0 end=2 {@0 aborted id=a} {@1 abort}]
3 9s - observe log [t/1 @0 end=1 {@0 id=a}]
`, []string{"t/1@0 is copy 2 of id a, which was sent once"}},
		{"sent and lost", `
1 1s p/0 life 1 note send [t/-1 {id=a}]
2 9s - observe log [t/0 @0 end=0]
`, nil},
	})
	checkEdges(t, props.AckedOffsetsUnique("t"), []edge{
		{"one send acked twice is one", `
1 1s p/0 life 1 note send [t/-1 {id=a}]
2 2s p/0 life 1 note ack done [t/0 {@0 id=a}]
3 2s p/0 life 1 note ack done [t/0 {@0 id=a}]
`, nil},
		{"two lives are two sends", `
1 1s p/0 life 1 note send [t/-1 {id=a}]
2 2s p/0 life 1 note ack done [t/0 {@0 id=a}]
3 3s p/0 life 2 note send [t/-1 {id=a}]
4 4s p/0 life 2 note ack done [t/0 {@0 id=a}]
`, []string{"t/0@0 was acked for id a and again for id a"}},
		{"two ids", `
1 2s p/0 life 1 note ack done [t/0 {@0 id=a}]
2 2s p/0 life 1 note ack done [t/0 {@0 id=b}]
`, []string{"t/0@0 was acked for id a and again for id b"}},
		{"partitions, topics, no offset, not done", `
1 2s p/0 life 1 note ack done [t/0 {@0 id=a}]
2 2s p/0 life 1 note ack done [t/1 {@0 id=b}]
3 2s p/0 life 1 note ack done [u/0 {@0 id=c}]
4 2s p/0 life 1 note ack done [t/0 {id=d}]
5 2s p/0 life 1 note ack done [t/0 {id=e}]
6 2s p/0 life 1 note ack unknown [t/0 {@0 id=f}]
`, nil},
	})
	checkEdges(t, props.Identity("t"), []edge{
		{"nobody asked", "1 9s - observe log [t/0 @0 end=1 {@0 id=a}]\n", nil},
		{"markers have no id", `
1 1s p/0 life 1 note ask [""/-1 {id=a}]
2 9s - observe log [t/0 @0 end=2 {@0 id=a} {@1 commit}]
`, nil},
		{"once per id", `
1 1s p/0 life 1 note ask [""/-1 {id=a}]
2 9s - observe log [t/0 @0 end=2 {@0 id=b} {@1 id=b}]
`, []string{`t/0@0 has id "b"`}},
	})
}

func TestLifeEdges(t *testing.T) {
	checkEdges(t, props.NoSilentDrop(), []edge{
		{"an ask without an answer", `
1 1s p/0 life 1 note ask [""/-1 {id=a}]
2 2s p/0 life 1 exit - done
`, []string{"p/0 life 1 took an ask for id a and exited without an answer"}},
		{"another life answered", `
1 1s p/0 life 1 note ask [""/-1 {id=a}]
2 2s p/0 life 1 exit - done
3 3s p/0 life 2 note ask [""/-1 {id=a}]
4 3s p/0 life 2 note answer done [""/-1 {id=a}]
5 4s p/0 life 2 exit - done
`, []string{"p/0 life 1 took an ask"}},
		{"sent twice, acked once", `
1 1s p/0 life 1 note send [t/-1 {id=a}]
2 1s p/0 life 1 note send [t/-1 {id=a}]
3 2s p/0 life 1 note ack done [t/0 {@0 id=a}]
4 2s p/0 life 1 exit - done
`, []string{"sent id a"}},
		{"a crash and an error may leave all open", `
1 1s p/0 life 1 note send [t/-1 {id=a}]
2 1s p/0 life 1 crash
3 1s p/0 life 2 note send [t/-1 {id=a}]
4 2s p/0 life 2 exit - not-done err=fenced
5 3s p/0 life 3 note send [t/-1 {id=a}]
`, nil},
	})
	checkEdges(t, props.AllAnswered(), []edge{
		{"told once however often it asks", `
1 1s p/0 life 1 note ask [""/-1 {id=a}]
2 2s p/0 life 2 note ask [""/-1 {id=a}]
`, []string{"id a was asked for and never answered done"}},
		{"asked again after done", `
1 1s p/0 life 1 note ask [""/-1 {id=a}]
2 2s p/0 life 1 note answer done [""/-1 {id=a}]
3 2s p/0 life 1 note ask [""/-1 {id=a}]
`, nil},
	})
}
