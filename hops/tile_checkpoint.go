package hops

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The objects of a checkpoint, below the tile's prefix.
const (
	checkpointMetadata = "checkpoint/metadata"
	checkpointOffsets  = "checkpoint/offsets/"
	checkpointCommits  = "checkpoint/commits/"
)

// The keys of ours in an offsets entry's conf. Spark ignores keys that it does
// not know.
const (
	confStart = "hopcheck.startOffsets"
	confRun   = "hopcheck.run"
)

// OffsetRange is a half-open range of one partition's offsets: Start is in it,
// End is not.
type OffsetRange struct {
	Partition  int32
	Start, End int64
}

// BatchPlan is an entry of the checkpoint's offsets log: the ranges that one
// batch reads, in the order of partitions. Run names the process that planned
// it, so that its own entry can be told from another's; TimestampMs, in
// milliseconds since the Unix epoch, says when.
type BatchPlan struct {
	Topic       string
	Ranges      []OffsetRange
	Run         string
	TimestampMs int64
}

// planMeta is the second line of an offsets entry, Spark's OffsetSeqMetadata.
type planMeta struct {
	BatchWatermarkMs int64             `json:"batchWatermarkMs"`
	BatchTimestampMs int64             `json:"batchTimestampMs"`
	Conf             map[string]string `json:"conf"`
}

// AppendBatchPlan appends an offsets entry to body as Spark writes it: version,
// metadata, and the source's end offsets. Spark takes the starts from the entry
// before; ours are in the metadata's conf, so that one entry is enough to run
// its batch again. The bytes depend on the plan alone.
func AppendBatchPlan(body []byte, plan BatchPlan) []byte {
	starts := offsetsText(plan.Topic, plan.Ranges, func(r OffsetRange) int64 { return r.Start })
	ends := offsetsText(plan.Topic, plan.Ranges, func(r OffsetRange) int64 { return r.End })
	meta := planMeta{
		BatchTimestampMs: plan.TimestampMs,
		Conf:             map[string]string{confStart: starts, confRun: plan.Run},
	}
	return fmt.Appendf(body, "%s\n%s\n%s", logVersion, jsonText(meta), ends)
}

// offsetsText is Spark's JSON of a Kafka source's offsets, partitions in order.
func offsetsText(topic string, ranges []OffsetRange, of func(OffsetRange) int64) string {
	parts := make([]string, len(ranges))
	for i, r := range ranges {
		parts[i] = fmt.Sprintf(`"%d":%d`, r.Partition, of(r))
	}
	return fmt.Sprintf("{%s:{%s}}", jsonText(topic), strings.Join(parts, ","))
}

// ParseBatchPlan reads an offsets entry of ours. It fails on another version, on
// an entry that is torn, and on one without start offsets, which Spark wrote.
func ParseBatchPlan(body []byte) (BatchPlan, error) {
	lines, err := logLines(body)
	if err != nil {
		return BatchPlan{}, err
	}
	if len(lines) != 2 {
		return BatchPlan{}, fmt.Errorf("torn: %d lines below the version, want metadata "+
			"and one source", len(lines))
	}
	var meta planMeta
	if err := oneJSON(lines[0], &meta); err != nil {
		return BatchPlan{}, fmt.Errorf("metadata: %w", err)
	}
	topic, ends, err := parseOffsets(lines[1])
	if err != nil {
		return BatchPlan{}, fmt.Errorf("end offsets: %w", err)
	}
	started, starts, err := parseOffsets([]byte(meta.Conf[confStart]))
	if err != nil {
		return BatchPlan{}, fmt.Errorf("start offsets (conf %s): %w", confStart, err)
	}
	if started != topic || len(starts) != len(ends) {
		return BatchPlan{}, errors.New("start and end offsets are of different partitions")
	}
	plan := BatchPlan{Topic: topic, Run: meta.Conf[confRun], TimestampMs: meta.BatchTimestampMs}
	for _, partition := range slices.Sorted(maps.Keys(ends)) {
		start, ok := starts[partition]
		if !ok || start < 0 || start > ends[partition] {
			return BatchPlan{}, fmt.Errorf("partition %d: no range from %d to %d",
				partition, start, ends[partition])
		}
		plan.Ranges = append(plan.Ranges, OffsetRange{partition, start, ends[partition]})
	}
	return plan, nil
}

func parseOffsets(text []byte) (topic string, offsets map[int32]int64, err error) {
	var wire map[string]map[string]*int64
	if err := oneJSON(text, &wire); err != nil {
		return "", nil, err
	}
	if len(wire) != 1 {
		return "", nil, fmt.Errorf("%d topics, want one", len(wire))
	}
	offsets = make(map[int32]int64)
	for name, partitions := range wire {
		topic = name
		for number, offset := range partitions {
			partition, err := strconv.ParseInt(number, 10, 32)
			if err != nil || partition < 0 || offset == nil {
				return "", nil, fmt.Errorf("partition %q with its offset is not a pair of numbers",
					number)
			}
			offsets[int32(partition)] = *offset
		}
	}
	return topic, offsets, nil
}

// touch says whether the ranges of next begin where those of plan end, and no
// partition is forgotten. Partitions that plan does not have begin anywhere.
func (plan BatchPlan) touch(next BatchPlan) error {
	starts := make(map[int32]int64)
	for _, r := range next.Ranges {
		starts[r.Partition] = r.Start
	}
	for _, r := range plan.Ranges {
		if start, ok := starts[r.Partition]; !ok || start != r.End {
			return fmt.Errorf("partition %d ends at offset %d in the entry before, "+
				"and the next does not begin there", r.Partition, r.End)
		}
	}
	return nil
}

// appendCommit appends an entry of the commits log, as Spark writes it.
func appendCommit(body []byte) []byte {
	return append(body, logVersion+"\n"+`{"nextBatchWatermarkMs":0}`...)
}

// parseCommit checks an entry of the commits log.
func parseCommit(body []byte) error {
	lines, err := logLines(body)
	if err != nil {
		return err
	}
	if len(lines) != 1 {
		return fmt.Errorf("torn: %d lines below the version, want 1", len(lines))
	}
	var commit struct {
		NextBatchWatermarkMs *int64 `json:"nextBatchWatermarkMs"`
	}
	if err := oneJSON(lines[0], &commit); err != nil {
		return err
	}
	return nil
}

// checkpointID is the content of the checkpoint's metadata.
type checkpointID struct {
	ID string `json:"id"`
}

func appendCheckpointID(body []byte, id string) []byte {
	return append(body, jsonText(checkpointID{id})...)
}

func parseCheckpointID(body []byte) (string, error) {
	var meta checkpointID
	if err := json.Unmarshal(body, &meta); err != nil {
		return "", fmt.Errorf("torn or foreign: %w", err)
	}
	if meta.ID == "" {
		return "", errors.New("it has no id")
	}
	return meta.ID, nil
}
