package hops

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// SinkLogDir is the folder of the sink log, below the tile's prefix. Spark looks
// for it by this name.
const SinkLogDir = "_spark_metadata"

// CompactEvery is the number of batches after which the sink log is compacted:
// Spark's default (spark.sql.streaming.fileSink.log.compactInterval).
const CompactEvery = 10

// logVersion is the first line of every log file, Spark's and ours.
const logVersion = "v1"

// SinkFile is one file that a batch has added to the tile: a line of the sink
// log, with the fields and in the order that Spark writes (SinkFileStatus).
//
// Path is the URI under which Spark finds the file. Size and BlockSize are in
// bytes, ModificationTime is in milliseconds since the Unix epoch. Action is
// "add", or "delete" in logs of Spark 2: such a path is no longer part of the
// data.
type SinkFile struct {
	Path             string `json:"path"`
	Size             int64  `json:"size"`
	IsDir            bool   `json:"isDir"`
	ModificationTime int64  `json:"modificationTime"`
	BlockReplication int    `json:"blockReplication"`
	BlockSize        int64  `json:"blockSize"`
	Action           string `json:"action"`
}

// AppendSinkLog appends one file of the sink log to body: the version line, then
// one line of JSON per file, without a newline at the end, as Spark writes it.
// The bytes depend on the files alone.
func AppendSinkLog(body []byte, files ...SinkFile) []byte {
	body = append(body, logVersion...)
	for _, file := range files {
		body = append(body, '\n')
		body = append(body, jsonText(file)...)
	}
	return body
}

// jsonText is the JSON of a value of ours, without HTML's escapes, since Spark
// writes none.
func jsonText(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // strings, numbers and maps of them always encode
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// ParseSinkLog reads one file of the sink log. It fails on another version and
// on anything that is not whole: a log that is half read is data lost in
// silence.
func ParseSinkLog(body []byte) ([]SinkFile, error) {
	lines, err := logLines(body)
	if err != nil {
		return nil, err
	}
	var files []SinkFile
	for n, line := range lines {
		var file SinkFile
		if err := oneJSON(line, &file); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+2, err)
		}
		switch {
		case file.Path == "":
			return nil, fmt.Errorf("line %d: no path", n+2)
		case file.Action != "add" && file.Action != "delete":
			return nil, fmt.Errorf("line %d: action %q is neither add nor delete", n+2, file.Action)
		}
		files = append(files, file)
	}
	return files, nil
}

// logLines checks the version line and returns the lines below it.
func logLines(body []byte) ([][]byte, error) {
	lines := bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))
	version := string(lines[0])
	switch {
	case version == logVersion:
		return lines[1:], nil
	case version == "" || version == "v":
		return nil, fmt.Errorf("torn: it begins with %q, not with a version line", version)
	}
	return nil, fmt.Errorf("version line is %.20q, and only %s can be read", version, logVersion)
}

// oneJSON decodes a line that must be one whole JSON value. Unknown fields pass:
// later versions of Spark may add some.
func oneJSON(line []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	if err := decoder.Decode(into); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return fmt.Errorf("torn: the JSON of %.40q ends early", line)
		}
		return fmt.Errorf("decoding %.40q: %w", line, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}

// SinkLogName is the name of a batch's file in the sink log: the number, or
// "N.compact" for the batch that ends a run of every batches. A compact file
// stands for its batch and all before it.
func SinkLogName(batch int64, every int) string {
	name := strconv.FormatInt(batch, 10)
	if (batch+1)%int64(every) == 0 {
		name += ".compact"
	}
	return name
}

// parseSinkLogName is the inverse of SinkLogName, whatever the interval. Other
// names (temporary files, checksums) are not part of the log.
func parseSinkLogName(name string) (batch int64, compact, ok bool) {
	name, compact = strings.CutSuffix(name, ".compact")
	batch, ok = parseBatch(name)
	return batch, compact, ok
}

// parseBatch reads the name of a log file: a number as Spark writes it.
func parseBatch(name string) (int64, bool) {
	batch, err := strconv.ParseInt(name, 10, 64)
	return batch, err == nil && batch >= 0 && strconv.FormatInt(batch, 10) == name
}

// sinkListing is what a listing of the sink log's folder says.
type sinkListing struct {
	last    int64    // the last batch, or -1
	state   []string // names that make up the latest state, oldest first
	covered []string // names that the latest compact file replaces
	missing int64    // a batch that the state lacks, or -1
}

// readSinkListing orders the names in a sink log's folder: the latest compact
// file and each batch after it are the state, and all before is covered by it.
func readSinkListing(names []string) sinkListing {
	type entry struct {
		batch   int64
		compact bool
		name    string
	}
	var entries []entry
	from := int64(0) // the batch of the latest compact file
	for _, name := range names {
		batch, compact, ok := parseSinkLogName(name)
		if !ok {
			continue
		}
		entries = append(entries, entry{batch, compact, name})
		if compact {
			from = max(from, batch)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return compareThen(a.batch, b.batch, a.name, b.name)
	})
	found := sinkListing{last: -1, missing: -1}
	compacted := slices.ContainsFunc(entries, func(e entry) bool { return e.compact })
	next := from
	for _, e := range entries {
		if e.batch < from || compacted && e.batch == from && !e.compact {
			found.covered = append(found.covered, e.name)
			continue
		}
		if e.batch != next && found.missing < 0 {
			found.missing = next
		}
		found.state, found.last = append(found.state, e.name), e.batch
		next = e.batch + 1
	}
	return found
}

// visible drops what a later line of the log deletes, and the lines that do so.
func visible(files []SinkFile) []SinkFile {
	gone := make(map[string]bool)
	for _, file := range files {
		if file.Action == "delete" {
			gone[file.Path] = true
		}
	}
	return slices.DeleteFunc(files, func(file SinkFile) bool { return gone[file.Path] })
}
