package hops

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A plan's bytes are an offsets entry of Spark's: version, OffsetSeqMetadata,
// and the Kafka source's end offsets.
const planText = `v1
{"batchWatermarkMs":0,"batchTimestampMs":1480981499528,"conf":{"hopcheck.run":"r1",` +
	`"hopcheck.startOffsets":"{\"learning.progress\":{\"0\":7,\"2\":0,\"10\":5}}"}}
{"learning.progress":{"0":12,"2":0,"10":9}}`

func somePlan() BatchPlan {
	return BatchPlan{
		Topic: "learning.progress", Run: "r1", TimestampMs: 1480981499528,
		Ranges: []OffsetRange{{0, 7, 12}, {2, 0, 0}, {10, 5, 9}},
	}
}

func TestBatchPlanAsSparkWritesIt(t *testing.T) {
	if diff := cmp.Diff(planText, string(AppendBatchPlan(nil, somePlan()))); diff != "" {
		t.Error(diff)
	}
	got, err := ParseBatchPlan([]byte(planText))
	if diff := cmp.Diff(somePlan(), got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for n := range len(planText) {
		if _, err := ParseBatchPlan([]byte(planText[:n])); err == nil {
			t.Errorf("the first %d bytes are taken for whole", n)
		}
	}
}

func TestParseBatchPlanRefuses(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"v1", "v9", "version line"},
		{`\"0\":7`, `\"0\":13`, "no range from 13 to 12"},
		{`\"0\":7`, `\"0\":-1`, "no range from -1 to 12"},
		{`\"0\":7`, `\"1\":7`, "no range"},
		{`,\"2\":0`, ``, "different partitions"},
		{`hopcheck.startOffsets`, `x`, "start offsets"},
		{`"10":9`, `"ten":9`, "not a pair of numbers"},
		{`"10":9`, `"10":null`, "not a pair of numbers"},
		{`"10":9}`, `"10":9},"other":{}`, "2 topics"},
		{`{"learning.progress":{"0":12,"2":0,"10":9}}`, "-", "end offsets"},
	} {
		body := strings.Replace(planText, test.old, test.new, 1)
		_, err := ParseBatchPlan([]byte(body))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s for %s: %v, want %q", test.new, test.old, err, test.want)
		}
	}
}

func TestPlansTouch(t *testing.T) {
	last := BatchPlan{Ranges: []OffsetRange{{0, 0, 5}, {1, 2, 2}}}
	for _, test := range []struct {
		next []OffsetRange
		ok   bool
	}{
		{[]OffsetRange{{0, 5, 9}, {1, 2, 3}}, true},
		{[]OffsetRange{{0, 5, 5}, {1, 2, 2}, {2, 40, 50}}, true},
		{[]OffsetRange{{0, 5, 9}}, false},
		{[]OffsetRange{{0, 4, 9}, {1, 2, 3}}, false},
		{[]OffsetRange{{0, 6, 9}, {1, 2, 3}}, false},
	} {
		if err := last.touch(BatchPlan{Ranges: test.next}); (err == nil) != test.ok {
			t.Errorf("%v: %v", test.next, err)
		}
	}
}

func TestCommitAndMetadata(t *testing.T) {
	const commit = "v1\n" + `{"nextBatchWatermarkMs":0}`
	if got := string(appendCommit(nil)); got != commit {
		t.Error(got)
	}
	for n := range len(commit) {
		if err := parseCommit([]byte(commit[:n])); err == nil {
			t.Errorf("the first %d bytes are taken for whole", n)
		}
	}
	if err := parseCommit([]byte(commit)); err != nil {
		t.Error(err)
	}
	const meta = `{"id":"2d1cb2a3"}`
	if got := string(appendCheckpointID(nil, "2d1cb2a3")); got != meta {
		t.Error(got)
	}
	for n := range len(meta) {
		if _, err := parseCheckpointID([]byte(meta[:n])); err == nil {
			t.Errorf("the first %d bytes are taken for whole", n)
		}
	}
	if id, err := parseCheckpointID([]byte(meta + "\n")); id != "2d1cb2a3" || err != nil {
		t.Error(id, err)
	}
}
