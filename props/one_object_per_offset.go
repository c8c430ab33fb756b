package props

import (
	"fmt"
	"slices"

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
	data := slices.DeleteFunc(l.lines(topic), func(x line) bool { return x.kind != model.Data })
	for i := range data {
		x := &data[i]
		if i > 0 && data[i-1].partition == x.partition && data[i-1].offset == x.offset {
			where := fmt.Sprintf("in objects %s and %s", data[i-1].object.Key, x.object.Key)
			if data[i-1].object == x.object {
				where = "twice in object " + x.object.Key
			}
			f.add(place(topic, x.partition, x.offset)+" stands "+where,
				data[i-1].object.Seq, x.object.Seq)
		}
		if log := logOf(logs, x.partition); log != nil {
			checkLine(x, log, f)
		}
	}
}

// checkLine compares a data line with what the log has at its offset.
func checkLine(x *line, log *partitionLog, f *findings) {
	r := log.at(x.offset)
	gone := x.offset < log.start || r == nil && x.offset < log.end // retention, compaction
	if gone || r != nil && r.Kind == model.Data && r.ID == x.id {
		return
	}
	f.add(fmt.Sprintf("object %s has id %s for %s, where the log holds %s", x.object.Key, x.id,
		place(log.topic, x.partition, x.offset), standing(r)), log.seq, x.object.Seq)
}
