package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// AckedOffsetsUnique promises that one offset acknowledges one send: two done
// acknowledgements never name the same partition and offset.
//
// It concludes from what client libraries said alone and needs no audit, so it
// cannot say which of the two is wrong. Two acknowledgements of one id in one life
// that noted fewer sends of it than acknowledgements are the same send and count
// once. An acknowledgement without an offset names none and is not judged.
func AckedOffsetsUnique(topic string) Property {
	name := "acked-offsets-unique/" + topic
	return Property{
		Name: name,
		Says: "No two sends to " + topic + " are acked with the same partition and offset.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkUniqueAcks(h, topic, &f)
			return f.broken()
		},
		Holds:  text(uniqueHolds, "TOPIC", topic),
		Breaks: text(uniqueBreaks, "TOPIC", topic),
	}
}

const uniqueHolds = `
1 1s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
2 1s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
3 2s player/0 life 1 note ack done [TOPIC/0 {@0 id=ev-1}]
4 2s player/0 life 1 note ack done [TOPIC/0 {@1 id=ev-1}]
`

const uniqueBreaks = `
1 1s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
2 1s player/0 life 1 note send [TOPIC/-1 {id=ev-1}]
3 2s player/0 life 1 note ack done [TOPIC/0 {@0 id=ev-1}]
4 2s player/0 life 1 note ack done [TOPIC/0 {@0 id=ev-1}]
`

// sender is who sent what.
type sender struct {
	life
	id string
}

func checkUniqueAcks(h *model.History, topic string, f *findings) {
	type spot struct {
		partition int32
		offset    int64
	}
	unacked := make(map[sender]int)
	for n := range notes(h, "send") {
		if n.topic == topic {
			unacked[sender{lifeOf(n.event), n.record.ID}]++
		}
	}
	first := make(map[spot]model.Ack)
	for _, ack := range model.Acks(h) {
		if ack.Topic != topic || ack.Outcome != model.Done || ack.Offset < 0 {
			continue
		}
		by := sender{life{ack.Proc, ack.Life}, ack.ID}
		unacked[by]--
		at := spot{ack.Partition, ack.Offset}
		other, taken := first[at]
		switch {
		case !taken:
			first[at] = ack
		case by == sender{life{other.Proc, other.Life}, other.ID} && unacked[by] < 0:
			// No send is left that this could be about: the same one, told again.
		default:
			f.add(fmt.Sprintf("%s was acked for id %s and again for id %s",
				place(topic, ack.Partition, ack.Offset), other.ID, ack.ID), other.Seq, ack.Seq)
		}
	}
}
