package bus

import (
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// Describe says which offsets an object of landing holds: its key is
// topic/partition/offset, and its body a line per offset.
func Describe(key string, body []byte) ([]model.Part, []model.Count) {
	fields := strings.Split(key, "/")
	if len(fields) != 3 {
		return nil, nil
	}
	partition, err := strconv.ParseInt(fields[1], 10, 32)
	if err != nil {
		return nil, nil
	}
	lines, err := hops.ParseBody(body)
	if err != nil {
		return nil, nil
	}
	part := model.PartOf(fields[0], int32(partition))
	for _, l := range lines {
		r := model.Record{Offset: l.Offset}
		switch {
		case l.Hole:
			r.Kind = model.Hole
		case l.Reject != "":
			r.Kind = model.Rejected
		default:
			r.ID, _ = Identify(Raw(l.Value))
			r.Key, r.Digest = string(l.Key), tap.Digest(l.Value)
		}
		part.Records = append(part.Records, r)
	}
	return []model.Part{part}, nil
}

// Raw is a value of the topic of progress as a record.
func Raw(value []byte) tap.Raw { return tap.Raw{Topic: Progress, Value: value} }
