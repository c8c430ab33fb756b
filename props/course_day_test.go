package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

func TestCourseDayEdges(t *testing.T) {
	const said = `1 8s course_day/0 life 1 note course-day ("go mon lines" 3) ("go mon distinct" 2)
`
	const commit = "3 9s - observe commit group=g [t/0 @9]\n"
	checkEdges(t, props.CourseDay("t", "g"), renumber([]edge{
		{"resends, rejects, markers, aborted data, two days", `
1 8s course_day/0 life 1 note course-day ("go mon lines" 3) ("go mon distinct" 2) ("go tue lines" 1) ("go tue distinct" 1)
2 9s - observe log [t/0 @0 end=9 {@0 id=a cell="go mon"} {@1 id=b cell="go mon"} {@2 id=a cell="go mon"} {@3 class=bad} {@4 aborted id=x cell="go mon"} {@5 abort} {@8 id=a cell="go tue"}]
` + commit, nil},
		{"lines are not distinct ids", said + `
2 9s - observe log [t/0 @0 end=4 {@0 id=a cell="go mon"} {@1 id=a cell="go mon"} {@2 id=a cell="go mon"} {@3 class=bad}]
` + commit, []string{`course_day/0 counts 2 distinct ids of "go mon"; accepted below the offsets of g: 1`}},
		{"resends were collapsed", said + `
2 9s - observe log [t/0 @0 end=4 {@0 id=a cell="go mon"} {@1 id=a cell="go mon"} {@2 id=b cell="go mon"} {@3 id=b cell="go mon"}]
` + commit, []string{`course_day/0 counts 3 lines of "go mon"; accepted below the offsets of g: 4`}},
		{"a day that is missing, and one that never was", said + `
2 9s - observe log [t/0 @0 end=1 {@0 id=a cell="go tue"}]
` + commit, []string{
			`course_day/0 counts 3 lines of "go mon"; accepted below the offsets of g: 0`,
			`course_day/0 counts 2 distinct ids of "go mon"; accepted below the offsets of g: 0`,
			`course_day/0 counts 0 lines of "go tue"; accepted below the offsets of g: 1`,
			`course_day/0 counts 0 distinct ids of "go tue"; accepted below the offsets of g: 1`,
		}},
		{"what is not committed may be counted", said + `
2 9s - observe log [t/0 @0 end=4 {@0 id=a cell="go mon"} {@1 id=b cell="go mon"} {@2 id=a cell="go mon"} {@3 id=c cell="go mon"}]
3 9s - observe commit group=g [t/0 @2]
`, nil},
		{"what is not there may not", said + `
2 9s - observe log [t/0 @0 end=2 {@0 id=a cell="go mon"} {@1 id=b cell="go mon"}]
3 9s - observe commit group=g [t/0 @1]
`, []string{`counts 3 lines of "go mon"; accepted below the offsets of g: 1 to 2`}},
		{"two partitions, one without a commit", said + `
2 9s - observe log [t/0 @0 end=3 {@0 id=a cell="go mon"} {@1 id=b cell="go mon"} {@2 id=a cell="go mon"}]
3 9s - observe log [t/1 @0 end=1 {@0 id=c cell="go mon"}]
` + commit, nil},
		{"no report", "1 9s - observe log [t/0 @0 end=1 {@0 id=a cell=c}]\n" + commit, nil},
		{"no audit", said, nil},
		{"a partition, or an offset, that was not read", said + `
2 9s - observe log [t/0 @0 end=0]
2 9s - observe log [t/1 err=NOT_LEADER_FOR_PARTITION]
` + commit, nil},
		{"an offset that was not read", said + `
2 9s - observe log [t/0 @0 end=0]
2 9s - observe commit group=g err=COORDINATOR_NOT_AVAILABLE
`, nil},
		{"a record without a day", said + `
2 9s - observe log [t/0 @0 end=1 {@0 id=a}]
` + commit, nil},
		{"retention took what replies name", `
0 1s w/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=a cell="go mon"} {@1 id=b cell="go mon"}]
` + said + `
2 9s - observe log [t/0 @2 end=3 {@2 id=a cell="go mon"}]
` + commit, nil},
		{"retention took too few", `
0 1s w/0 life 1 reply Produce 1 done [t/0 @0 {@0 id=b cell="go mon"}]
` + said + `
2 9s - observe log [t/0 @1 end=2 {@1 id=a cell="go mon"}]
` + commit, []string{`course_day/0 counts 3 lines of "go mon"; accepted below the offsets of g: 1 to 2`}},
		{"retention took what nobody names: too few still shows", `
1 8s course_day/0 life 1 note course-day ("go mon lines" 9) ("go mon distinct" 0)
2 9s - observe log [t/0 @1 end=2 {@1 id=a cell="go mon"}]
` + commit, []string{`course_day/0 counts 0 distinct ids of "go mon"; accepted below the offsets of g: 1 or more`}},
		{"the last report counts", `
1 7s course_day/0 life 1 note course-day
1 8s course_day/0 life 2 note course-day ("go mon lines" 1) ("go mon distinct" 1)
2 9s - observe log [t/0 @0 end=1 {@0 id=a cell="go mon"}]
` + commit, nil},
	}))
}
