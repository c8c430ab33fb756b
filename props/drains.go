package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// Drains promises that everything is worked off in the end: at the audit, the
// group's offset is above the last record of each partition of the topic.
//
// It concludes lag that was left when the run ended, so it means something only
// after the faults ended and the world had its time. Control records, aborted data
// and holes at the end of a log are no lag, nor is a partition without records that
// the group never committed. It cannot conclude anything without an audit, of
// partitions that the audit did not read, or where an offset of the group could not
// be read; a group of which the audit says nothing has committed nothing.
func Drains(topic, group string) Property {
	name := "drains/" + topic
	return Property{
		Name: name,
		Says: "In the end " + group + " has committed past the last record of every partition of " +
			topic + ".",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkDrained(openLedger(h), topic, group, &f)
			return f.broken()
		},
		Holds:  text(drainsHolds, "TOPIC", topic, "GROUP", group),
		Breaks: text(drainsBreaks, "TOPIC", topic, "GROUP", group),
	}
}

const drainsHolds = `
1 9s - observe log [TOPIC/0 @0 end=3 {@0 id=ev-1} {@1 id=ev-2} {@2 commit}]
2 9s - observe log [TOPIC/1 @0 end=0]
3 9s - observe commit group=GROUP [TOPIC/0 @2]
`

const drainsBreaks = `
1 9s - observe log [TOPIC/0 @0 end=3 {@0 id=ev-1} {@1 id=ev-2} {@2 commit}]
2 9s - observe commit group=GROUP [TOPIC/0 @1]
`

func checkDrained(l *ledger, topic, group string, f *findings) {
	if l.commitUnread(group) {
		return
	}
	logs := l.logs(topic)
	for i := range logs {
		log := &logs[i]
		last := int64(-1)
		for j := len(log.records) - 1; j >= 0; j-- {
			r := &log.records[j]
			if r.Kind == model.Data && r.Offset >= log.start {
				last = r.Offset
				break
			}
		}
		commit := l.committed(group, topic, log.partition)
		if last < 0 || commit.Offset > last {
			continue
		}
		has := fmt.Sprintf("committed %d", commit.Offset)
		if commit.Offset < 0 {
			has = "no commit"
		}
		f.add(fmt.Sprintf("the last record of %s/%d is at %d, and %s has %s",
			topic, log.partition, last, group, has), log.seq, commit.Seq)
	}
}
