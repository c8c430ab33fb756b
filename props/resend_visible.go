package props

import (
	"fmt"
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// ResendVisible promises that repeats stay visible: of an id with two copies or
// more in the audited log below the group's audited offset, every copy is in an
// object or a dead letter, under its own offset. An empty dlq means that there are
// no dead letters.
//
// It concludes that somebody collapsed copies of an id on the way. It is the part
// of [NoLoss] that is about resends, with a witness that names the id, and rests on
// the same evidence; a copy that is in both counts once and is not reported here.
func ResendVisible(topic, group, dlq string) Property {
	name := "resend-visible/" + topic
	return Property{
		Name: name,
		Says: "Every copy of an id that was sent to " + topic + " again and that " + group +
			" has passed is in an object or a dead letter.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkResends(openLanded(h, topic, group, dlq), &f)
			return f.broken()
		},
		Holds:  text(resendHolds, "TOPIC", topic, "GROUP", group, "DLQ", dlq),
		Breaks: text(resendBreaks, "TOPIC", topic, "GROUP", group, "DLQ", dlq),
	}
}

const resendHolds = `
1 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1} {@1 id=ev-1}]
2 9s - observe commit group=GROUP [TOPIC/0 @2]
3 9s - observe object key=a [TOPIC/0 {@0 id=ev-1} {@1 id=ev-1}]
4 9s - observe log [DLQ/0 @0 end=0]
`

const resendBreaks = `
1 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1} {@1 id=ev-1}]
2 9s - observe commit group=GROUP [TOPIC/0 @2]
3 9s - observe object key=a [TOPIC/0 {@0 id=ev-1}]
4 9s - observe log [DLQ/0 @0 end=0]
`

func checkResends(l *landed, f *findings) {
	if !l.complete {
		return
	}
	type copies struct {
		all, kept int
		missing   string // the first that is missing
		seqs      []int64
	}
	byID := make(map[string]int) // place in list
	var list []copies
	var ids []string
	l.below(func(log *partitionLog, r *model.Record, commit model.GroupOffset) {
		i, ok := byID[r.ID]
		if !ok {
			i = len(list)
			byID[r.ID] = i
			list, ids = append(list, copies{}), append(ids, r.ID)
		}
		c := &list[i]
		c.all++
		from := model.Position{Topic: l.topic, Partition: log.partition, Offset: r.Offset}
		if l.lines.at(log.partition, r.Offset).holding(r.ID) != nil || l.letters.of(from) != nil {
			c.kept++
			return
		}
		if c.missing == "" {
			c.missing = place(l.topic, log.partition, r.Offset)
		}
		if !slices.Contains(c.seqs, log.seq) {
			c.seqs = append(c.seqs, log.seq, commit.Seq)
		}
	})
	for i, c := range list {
		if c.all >= 2 && c.kept < c.all {
			f.add(fmt.Sprintf("id %s has %d copies in the log and %d in objects and dead letters: "+
				"%s is missing", ids[i], c.all, c.kept, c.missing), c.seqs...)
		}
	}
}
