package hops

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sparkSinkLog is a file of the sink log in Spark's form: the version, then
// SinkFileStatus as JSON in its order of fields, no newline at the end. Spark 2
// could delete; TestSparksSinkLog has what Spark itself wrote.
const sparkSinkLog = `v1
{"path":"/lake/t/a","size":707,"isDir":false,"modificationTime":1001,"blockReplication":1,` +
	`"blockSize":33554432,"action":"add"}
{"path":"/lake/t/b","size":1698,"isDir":false,"modificationTime":1002,"blockReplication":3,` +
	`"blockSize":134217728,"action":"delete"}
{"path":"s3a://lake/t/c&c","size":1801,"isDir":false,"modificationTime":1003,` +
	`"blockReplication":1,"blockSize":33554432,"action":"add"}`

func sparkFiles() []SinkFile {
	return []SinkFile{
		{"/lake/t/a", 707, false, 1001, 1, 33554432, "add"},
		{"/lake/t/b", 1698, false, 1002, 3, 134217728, "delete"},
		{"s3a://lake/t/c&c", 1801, false, 1003, 1, 33554432, "add"},
	}
}

func TestSinkLogAsSparkWritesIt(t *testing.T) {
	if diff := cmp.Diff(sparkSinkLog, string(AppendSinkLog(nil, sparkFiles()...))); diff != "" {
		t.Error(diff)
	}
	if got := string(AppendSinkLog(nil)); got != "v1" {
		t.Errorf("an empty batch is %q", got)
	}
	for _, body := range []string{sparkSinkLog, sparkSinkLog + "\n"} {
		files, err := ParseSinkLog([]byte(body))
		if diff := cmp.Diff(sparkFiles(), files); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	files, err := ParseSinkLog([]byte("v1"))
	if len(files) != 0 || err != nil {
		t.Error(files, err)
	}
}

func TestParseSinkLogRefuses(t *testing.T) {
	const good = `{"path":"/x","size":1,"isDir":false,"modificationTime":1,` +
		`"blockReplication":1,"blockSize":1,"action":"add"}`
	for body, want := range map[string]string{
		"":                            "torn",
		"v":                           "torn",
		"v2\n" + good:                 `version line is "v2"`,
		good:                          "version line is",
		"v1\n" + good[:20]:            "line 2: torn",
		"v1\n" + good + "\n{":         "line 3: torn",
		"v1\n" + good + good:          "more than one",
		"v1\n\n" + good:               "line 2: torn",
		"v1\n{}":                      "no path",
		"v1\n" + `{"path":"/x"}`:      "neither add nor delete",
		"v1\n" + `{"path":1}`:         "decoding",
		"v1\n" + good + "\n" + "\x00": "decoding",
	} {
		_, err := ParseSinkLog([]byte(body))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", body, err, want)
		}
	}
	for n := range len(sparkSinkLog) { // no prefix is taken for whole, but at an end of line
		files, err := ParseSinkLog([]byte(sparkSinkLog[:n]))
		atEnd := sparkSinkLog[n] == '\n' || n > 0 && sparkSinkLog[n-1] == '\n'
		if (err == nil) != atEnd {
			t.Errorf("the first %d bytes: %v, %v", n, files, err)
		}
	}
}

func TestSinkLogName(t *testing.T) {
	for batch, want := range map[int64]string{
		0: "0", 8: "8", 9: "9.compact", 10: "10", 18: "18", 19: "19.compact", 99: "99.compact",
	} {
		if got := SinkLogName(batch, CompactEvery); got != want {
			t.Errorf("batch %d is %s, want %s", batch, got, want)
		}
	}
}

func TestSinkListing(t *testing.T) {
	type listing struct {
		Last    int64
		State   string
		Covered string
		Missing int64
	}
	for names, want := range map[string]listing{
		"":                                {-1, "", "", -1},
		"0":                               {0, "0", "", -1},
		"0 1 10 2 .3.tmp 3.crc":           {10, "0 1 2 10", "", 3},
		"1 2":                             {2, "1 2", "", 0},
		"0 1 2 9.compact":                 {9, "9.compact", "0 1 2", -1},
		"10 11 9.compact":                 {11, "9.compact 10 11", "", -1},
		"10 12 9.compact":                 {12, "9.compact 10 12", "", 11},
		"11 9.compact":                    {11, "9.compact 11", "", 10},
		"10 18 19.compact 20 5 9.compact": {20, "19.compact 20", "5 9.compact 10 18", -1},
		"9 9.compact":                     {9, "9.compact", "9", -1},
		"00 -1 +1 1.compact.x":            {-1, "", "", -1},
	} {
		got := readSinkListing(strings.Fields(names))
		show := listing{got.last, strings.Join(got.state, " "),
			strings.Join(got.covered, " "), got.missing}
		if diff := cmp.Diff(want, show); diff != "" {
			t.Errorf("%s: %s", names, diff)
		}
	}
}

func TestVisible(t *testing.T) {
	files := append(sparkFiles(), SinkFile{Path: "/lake/t/b", Action: "add"})
	got := visible(files)
	if len(got) != 2 || got[0].Path != "/lake/t/a" || got[1].Path != "s3a://lake/t/c&c" {
		t.Error(got)
	}
}
