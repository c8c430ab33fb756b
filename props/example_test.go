package props_test

import (
	"fmt"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
)

// A promise is made for names of a world, and judges any history, whoever wrote it
// down.
func Example() {
	const run = `
1 1s landing/0 life 1 request OffsetCommit 1 group=landing [progress/0 @2]
2 1s landing/0 life 1 reply OffsetCommit 1 done group=landing [progress/0 @2]
3 2s landing/0 life 1 crash
4 9s - observe log [progress/0 @0 end=2 {@0 id=ev-1} {@1 id=ev-2}]
5 9s - observe log [progress.dlq/0 @0 end=0]
6 9s - observe commit group=landing [progress/0 @2]
7 9s - observe object key=progress/0/0 [progress/0 {@0 id=ev-1}]
`
	h, err := model.Read(strings.NewReader(run))
	if err != nil {
		fmt.Println(err)
		return
	}
	noLoss := props.NoLoss("progress", "landing", "progress.dlq")
	for _, b := range props.Judge(h, []props.Property{noLoss, props.CommitMonotonic("landing")}) {
		fmt.Println(b.Promise, b.Seqs)
		fmt.Println(b.Witness)
	}
	// Output:
	// no-loss/progress [4 6]
	// progress/0@1 (id ev-2) is in neither object nor dead letter, and landing committed 2
}

// Every promise brings a history that breaks it.
func ExampleAllAnswered() {
	p := props.AllAnswered()
	fmt.Println(p.Name)
	fmt.Println(p.Says)
	fmt.Print(p.Breaks)
	// Output:
	// all-answered/asks
	// Every id that an application asked for got a done answer in the end.
	// 1 1s player/0 life 1 note ask [""/-1 {id=ev-1}]
	// 2 2s player/0 life 1 note answer unknown [""/-1 {id=ev-1}]
}
