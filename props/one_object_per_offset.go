package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// OneObjectPerOffset promises that no offset is stored twice and none is invented:
// in the audited objects an offset has at most one data line, and that line has
// the id that the log has there.
//
// It concludes duplicates within one object too. It cannot conclude anything of an
// id at offsets below the log start, or at which the log holds nothing any more:
// compaction may have taken the record. A data line where the log holds a control
// record or aborted data, or at or above its end, is broken. Partitions that the
// audit did not read are judged for duplicates only.
func OneObjectPerOffset(topic string) Property {
	name := "one-object-per-offset/" + topic
	return Property{
		Name: name,
		Says: "No offset of " + topic + " stands in the objects twice, " +
			"and each has the id that the log has there.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkOneObject(openLedger(h), topic, &f)
			return f.broken()
		},
		Holds:  text(oneObjectHolds, "TOPIC", topic),
		Breaks: text(oneObjectBreaks, "TOPIC", topic),
	}
}

const oneObjectHolds = `
1 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1} {@1 id=ev-2}]
2 9s - observe object key=a [TOPIC/0 {@0 id=ev-1}]
3 9s - observe object key=b [TOPIC/0 {@1 id=ev-2}]
`

const oneObjectBreaks = `
1 9s - observe log [TOPIC/0 @0 end=2 {@0 id=ev-1} {@1 id=ev-2}]
2 9s - observe object key=a [TOPIC/0 {@0 id=ev-1}]
3 9s - observe object key=b [TOPIC/0 {@0 id=ev-1} {@1 id=ev-2}]
`

func checkOneObject(l *ledger, topic string, f *findings) {
	logs := l.logs(topic)
	var last *line
	all := l.lines(topic)
	for i := range all {
		line := &all[i]
		if line.kind != model.Data {
			continue
		}
		at := place(topic, line.partition, line.offset)
		switch {
		case last == nil || last.partition != line.partition || last.offset != line.offset:
		case last.object == line.object:
			f.add(fmt.Sprintf("%s stands twice in object %s", at, line.object.Key),
				line.object.Seq)
		default:
			f.add(fmt.Sprintf("%s stands in objects %s and %s", at,
				last.object.Key, line.object.Key), last.object.Seq, line.object.Seq)
		}
		last = line
		log := logOf(logs, line.partition)
		if log == nil || line.offset < log.start {
			continue
		}
		r := log.at(line.offset)
		if r == nil && line.offset < log.end {
			continue // compaction may have taken it
		}
		if r == nil || r.Kind != model.Data || r.ID != line.id {
			f.add(fmt.Sprintf("object %s has id %s for %s, where the log holds %s",
				line.object.Key, line.id, at, standing(r)), log.seq, line.object.Seq)
		}
	}
}
