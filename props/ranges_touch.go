package props

import (
	"fmt"

	"github.com/hopcheck/hopcheck/model"
)

// RangesTouch promises that a tile's batches cut the log into pieces: in each
// partition of topic the range of a batch begins where that of the batch before ends,
// so that no offset is in two batches or in none. The tile is below prefix, without a
// slash at its end.
//
// The ranges of a batch that is in the sink log are those that were planned when it
// got there, whatever was planned after; those of another batch are its last plan. So
// it concludes that a batch was planned anew after it was done, or skipped for one
// that had its number. Batch 0, and a partition that no batch had before, may begin
// anywhere; a range may be empty; but a batch must have every partition of the batch
// before.
//
// It cannot conclude that what lies in a range was read, nor that a plan which was
// replaced before its batch was done was wrong.
func RangesTouch(topic, prefix string) Property {
	name := "ranges-touch/" + prefix
	return Property{
		Name: name,
		Says: "Ranges of successive batches of the tile " + prefix + " touch: no offset of " +
			topic + " is in two of them or between two.",
		Check: func(h *model.History) []Broken {
			f := findings{promise: name}
			checkTouch(openTile(h, prefix), topic, &f)
			return f.broken()
		},
		Holds:  tileText(touchHolds, topic, prefix),
		Breaks: tileText(touchBreaks, topic, prefix),
	}
}

const touchHolds = `
1 1s tile/0 life 1 return putif 1 done key=PLAN-A digest=d1 [TOPIC/0 @3 end=5]
2 1s tile/0 life 1 return putif 2 done key=SINK-A digest=d2
3 2s tile/0 life 1 return putif 3 unknown key=PLAN-B digest=d3 [TOPIC/0 @5 end=5] [TOPIC/1 @0 end=2]
`

const touchBreaks = `
1 1s tile/0 life 1 return putif 1 done key=PLAN-A digest=d1 [TOPIC/0 @3 end=5]
2 1s tile/0 life 1 return putif 2 done key=SINK-A digest=d2
3 2s tile/0 life 1 return putif 3 done key=PLAN-B digest=d3 [TOPIC/0 @7 end=9]
`

// reached is how far the batches up to one have read a partition.
type reached struct {
	batch int64
	end   int64
	plan  *tileWrite
}

func checkTouch(t *tileLog, topic string, f *findings) {
	ends := make(map[int32]reached)
	var before []int32 // the partitions of the batch before
	for _, b := range t.batches() {
		if b.plan == nil {
			continue
		}
		has := make(map[int32]bool)
		var partitions []int32
		for _, p := range b.plan.ranges(topic) {
			last, known := ends[p.Partition]
			if known && p.Offset != last.end {
				f.add(gap(topic, p, b.number, last), last.plan.ask.Seq, b.plan.ask.Seq,
					b.plan.answer.Seq)
			}
			if p.End < p.Offset {
				f.add(fmt.Sprintf("batch %d has a range of %s/%d that ends at %d, before it "+
					"begins at %d", b.number, topic, p.Partition, p.End, p.Offset),
					b.plan.ask.Seq)
			}
			ends[p.Partition] = reached{b.number, p.End, b.plan}
			has[p.Partition] = true
			partitions = append(partitions, p.Partition)
		}
		for _, p := range before {
			if last := ends[p]; !has[p] {
				f.add(fmt.Sprintf("batch %d has no range of %s/%d, which batch %d had up to %d",
					b.number, topic, p, last.batch, last.end),
					last.plan.ask.Seq, b.plan.ask.Seq)
			}
		}
		before = partitions
	}
}

// gap says what lies wrong between two ranges.
func gap(topic string, p model.Part, batch int64, last reached) string {
	from, to, wrong := last.end, p.Offset, "in none"
	if p.Offset < last.end {
		from, to, wrong = p.Offset, last.end, "in both"
	}
	return fmt.Sprintf("batch %d ends at %s and batch %d begins at %d: [%d, %d) is %s",
		last.batch, place(topic, p.Partition, last.end), batch, p.Offset, from, to, wrong)
}
