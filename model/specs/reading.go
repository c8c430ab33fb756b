package specs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// replica returns the number of the replica of the hop that an event is of, -1 for
// others. A number that a state has no room for is an error; it calls them what.
func (at Topology) replica(e *model.Event, what string, most int) (int, error) {
	name, number, ok := strings.Cut(e.Proc, "/")
	if !ok || name != at.Proc {
		return -1, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n >= most {
		return -1, fmt.Errorf("it has more than %d %s: %s", most, what, e.Proc)
	}
	return n, nil
}

// partitionOf returns how many records a partition of the hop's topic holds by the audit,
// and which of them the contract rejects.
func partitionOf(audit *model.Audited, topic string, partition int32) (
	records int, rejects uint64, err error,
) {
	for _, log := range audit.Topic(topic) {
		if log.Partition != partition {
			continue
		}
		switch {
		case log.End > maxOffsets:
			return 0, 0, fmt.Errorf("it has %d offsets, and a state has room for %d",
				log.End, maxOffsets)
		case log.Offset != 0 || int64(len(log.Records)) != log.End:
			return 0, 0, fmt.Errorf("its log begins at %d or has holes", log.Offset)
		}
		for i := range log.Records {
			switch rec := &log.Records[i]; {
			case rec.Kind != model.Data:
				return 0, 0, fmt.Errorf("its log holds what transactions leave")
			case rec.Class != "":
				rejects |= bit(int(rec.Offset))
			}
		}
		return int(log.End), rejects, nil
	}
	return 0, 0, fmt.Errorf("no audit has read its log")
}
