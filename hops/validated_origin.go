package hops

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Origin names the input record that an output record is of.
type Origin struct {
	Topic     string
	Partition int32
	Offset    int64
}

// String returns topic/partition/offset.
func (o Origin) String() string {
	return o.Topic + "/" + strconv.Itoa(int(o.Partition)) + "/" + strconv.FormatInt(o.Offset, 10)
}

func (o Origin) headers() []kgo.RecordHeader {
	return []kgo.RecordHeader{
		{Key: HeaderTopic, Value: []byte(o.Topic)},
		{Key: HeaderPartition, Value: strconv.AppendInt(nil, int64(o.Partition), 10)},
		{Key: HeaderOffset, Value: strconv.AppendInt(nil, o.Offset, 10)},
	}
}

// OriginOf reads the origin headers of a record of [Validated] or of a dead
// letter. It returns false if one is missing or is no number. Where a header
// occurs several times the last one counts: a hop adds its own at the end.
func OriginOf(record *kgo.Record) (Origin, bool) {
	partition, err := strconv.ParseInt(lastHeader(record, HeaderPartition), 10, 32)
	if err != nil || partition < 0 {
		return Origin{}, false
	}
	offset, err := strconv.ParseInt(lastHeader(record, HeaderOffset), 10, 64)
	if err != nil || offset < 0 {
		return Origin{}, false
	}
	origin := Origin{lastHeader(record, HeaderTopic), int32(partition), offset}
	return origin, origin.Topic != ""
}

// lastHeader returns the value of the last header of that name, or "".
func lastHeader(record *kgo.Record, name string) string {
	value := ""
	for _, header := range record.Headers {
		if header.Key == name {
			value = string(header.Value)
		}
	}
	return value
}
