package model_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/model"
)

// landed is a small history: one record is stored, its offset is committed, and
// the answer to the commit is lost.
func landed() *model.History {
	line := model.PartOf("progress", 0)
	line.Records = []model.Record{{Offset: 4, ID: "ev-1"}}
	next := model.PartOf("progress", 0)
	next.Offset = 5
	h := new(model.History)
	h.Append(model.Event{Proc: "landing/0", Life: 1, Kind: model.Start})
	h.Append(model.Event{
		At: time.Second, Proc: "landing/0", Life: 1, Kind: model.Return, Op: "put", Nth: 1,
		Outcome: model.Done, Key: "progress/0/4",
		Parts: []model.Part{line},
	})
	h.Append(model.Event{
		At: 1200 * time.Millisecond, Proc: "landing/0", Life: 1, Kind: model.Reply,
		Op: "OffsetCommit", Nth: 1, Outcome: model.Unknown, Group: "landing",
		Parts: []model.Part{next},
	})
	h.Append(model.Event{At: 2 * time.Second, Proc: "landing/0", Life: 1, Kind: model.Crash})
	h.Append(model.Event{At: 9 * time.Second, Kind: model.Observe, Op: "commit",
		Group: "landing", Parts: []model.Part{next}})
	return h
}

func ExampleHistory_WriteText() {
	if err := landed().WriteText(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 0s landing/0 life 1 start
	// 2 1s landing/0 life 1 return put 1 done key=progress/0/4 [progress/0 {@4 id=ev-1}]
	// 3 1.2s landing/0 life 1 reply OffsetCommit 1 unknown group=landing [progress/0 @5]
	// 4 2s landing/0 life 1 crash
	// 5 9s - observe commit group=landing [progress/0 @5]
}

func ExampleHistory_WriteJSONL() {
	h := new(model.History)
	h.Append(model.Event{At: time.Millisecond, Kind: model.Note, Note: "a \"quoted\" word"})
	if err := h.WriteJSONL(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"seq":1,"at_ns":1000000,"kind":"note","note":"a \"quoted\" word"}
}

func ExampleRead() {
	var file bytes.Buffer
	if err := landed().WriteText(&file); err != nil {
		fmt.Println(err)
	}
	h, err := model.Read(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(h.Len(), "events, the same run:", h.Digest() == landed().Digest())
	// Output:
	// 5 events, the same run: true
}

func ExampleRead_refused() {
	_, err := model.Read(strings.NewReader("1 0s - heal\n3 1s - observe log\n"))
	fmt.Println(err)
	_, err = model.Read(strings.NewReader("1 0s landing/0 life 1 cresh\n"))
	fmt.Println(err)
	// Output:
	// line 2: seq 3 where 2 must follow: events are missing or out of order
	// line 1: column 23: unknown kind "cresh"
}

func ExampleParseText() {
	e, err := model.ParseText("7 1.5s landing/0 life 2 request OffsetCommit 3 group=g [t/0 @5]")
	fmt.Println(e.Proc, e.Life, e.Op, e.Nth, e.Parts[0].Offset, err)
	// Output:
	// landing/0 2 OffsetCommit 3 5 <nil>
}

func ExampleAudit() {
	audited := model.Audit(landed())
	next, known := audited.Committed("landing", "progress", 0)
	fmt.Println(audited.Ran(), next, known)
	// Output:
	// true 5 true
}

func ExampleView() {
	v := model.NewView()
	for _, e := range landed().Events() {
		v.Apply(&e)
	}
	// The answer to the commit was lost, and the commit holds all the same.
	fmt.Println(v.Committed("landing", "progress", 0), v.Keys("progress/"))
	// Output:
	// 5 [progress/0/4]
}

func ExampleCommits() {
	for _, c := range model.Commits(landed(), "landing") {
		fmt.Printf("event %d: %s/%d next %d applied %v\n",
			c.Seq, c.Topic, c.Partition, c.Offset, c.Applied)
	}
	// Output:
	// event 3: progress/0 next 5 applied true
}
