package worlds

import (
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/bus"
)

// drained reports whether all that was appended is in the tile and committed, or a tile
// has stopped at an accident.
func (s TileSetup) drained(v *model.View) bool {
	appended := int64(0)
	for p := range int32(partitions) {
		appended += v.End(Progress, p)
	}
	last, records := tileSoFar(v)
	if committedTo(v, last) == appended {
		return true
	}
	// Who lost the checkpoint and has nothing more to do does not write it again.
	return s.Actor != nil && (records == appended || v.Alerts(hops.AlertStopped) > 0)
}

// committedTo returns up to where a batch reads, over all partitions, if it is the last
// that is planned, and is committed; else -1.
func committedTo(v *model.View, batch int64) int64 {
	const checkpoint = TilePrefix + "/checkpoint/"
	plan, planned := v.Object(checkpoint + "offsets/" + strconv.FormatInt(batch, 10))
	_, further := v.Object(checkpoint + "offsets/" + strconv.FormatInt(batch+1, 10))
	_, committed := v.Object(checkpoint + "commits/" + strconv.FormatInt(batch, 10))
	if !planned || further || !committed {
		return -1
	}
	read := int64(0)
	for i := range plan.Parts {
		read += plan.Parts[i].End
	}
	return read
}

// tileSoFar returns the last batch in the sink log, -1 for none, and how many records
// the files that it names have counted.
func tileSoFar(v *model.View) (last, records int64) {
	const folder = TilePrefix + "/" + hops.SinkLogDir + "/"
	entries := make(map[int64]model.Object)
	last, compact := int64(-1), int64(-1)
	for _, key := range v.Keys(folder) {
		number, compacted := strings.CutSuffix(strings.TrimPrefix(key, folder), ".compact")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			continue
		}
		entries[n], _ = v.Object(key) // N.compact comes after N
		last = max(last, n)
		if compacted {
			compact = max(compact, n)
		}
	}
	for n := max(compact, 0); n <= last; n++ {
		for _, file := range entries[n].Counts {
			part, _ := v.Object(file.Of)
			for _, c := range part.Counts {
				if !strings.HasPrefix(c.Of, bus.DistinctOf) {
					records += c.N
				}
			}
		}
	}
	return last, records
}
