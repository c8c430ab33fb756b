package hops

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// CourseDay is the morning model's row: what landing's raw objects say of one
// course on one day.
//
// Day is the UTC date of the events' own time, as 2006-01-02. Lines counts
// offsets: every send that the log took. DistinctEventIDs counts observations:
// a product that counts observations must count these, since a resend is a line
// of its own, rightly, in every hop before.
type CourseDay struct {
	CourseID         string
	Day              string
	Lines            int64
	DistinctEventIDs int64
}

// LinesPerEvent is the ratio of the two counts: 1 when nothing was sent twice.
func (d CourseDay) LinesPerEvent() float64 {
	return float64(d.Lines) / float64(d.DistinctEventIDs)
}

// ResendRate is the share of the lines that repeat an earlier one's event id, from
// 0 to below 1.
func (d CourseDay) ResendRate() float64 {
	return float64(d.Lines-d.DistinctEventIDs) / float64(d.Lines)
}

// CourseDays reads all raw objects of a topic that a [Landing] wrote, in either
// naming, and counts them per course and day, in that order. Rejects and holes are
// no observations and not counted. The event ids of all days are held in memory.
// It fails when an object is missing that was listed, is torn, or repeats an
// offset of the object before it, and when a line is not what the contract
// accepts: landing puts no such thing into the store.
func CourseDays(ctx context.Context, store TileStore, topic string) ([]CourseDay, error) {
	days := make(map[courseDayKey]*courseDayCount)
	names, err := listNames(ctx, store, topic+"/")
	if err != nil {
		return nil, fmt.Errorf("listing %s/: %w", topic, err)
	}
	var before string // the partition of the object before
	next := int64(0)  // the first offset after it
	for _, name := range names {
		partition, start, ok := splitObjectName(name)
		if !ok {
			return nil, fmt.Errorf("%s/%s is not an object of landing's: give the raw objects "+
				"a prefix of their own", topic, name)
		}
		lines, err := rawLines(ctx, store, topic+"/"+name)
		if err != nil {
			return nil, err
		}
		if lines[0].Offset != start || partition == before && start < next {
			return nil, fmt.Errorf("object %s/%s begins at offset %d and the one before it ends "+
				"below %d: they overlap", topic, name, lines[0].Offset, next)
		}
		before, next = partition, start+int64(len(lines))
		for _, line := range lines {
			if err := countLine(days, line); err != nil {
				return nil, fmt.Errorf("object %s/%s, offset %d: %w", topic, name, line.Offset, err)
			}
		}
	}
	return sortedDays(days), nil
}

type courseDayKey struct{ course, day string }

type courseDayCount struct {
	lines int64
	ids   map[string]struct{}
}

// splitObjectName is the inverse of ObjectKey, without the topic.
func splitObjectName(name string) (partition string, offset int64, ok bool) {
	id, padded, ok := bytes.Cut([]byte(name), []byte("/"))
	if _, number := parseBatch(string(id)); !ok || !number || len(padded) != 20 {
		return "", 0, false
	}
	unpadded := cmp.Or(string(bytes.TrimLeft(padded, "0")), "0")
	offset, ok = parseBatch(unpadded)
	return string(id), offset, ok
}

func rawLines(ctx context.Context, store TileStore, key string) ([]Line, error) {
	body, _, err := store.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	lines, err := ParseBody(body)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	return lines, nil
}

func countLine(days map[courseDayKey]*courseDayCount, line Line) error {
	if line.Hole || line.Reject != "" {
		return nil
	}
	seen, err := observe(line.Key, line.Value)
	if err != nil {
		return err
	}
	key := courseDayKey{seen.course, seen.at.UTC().Format(time.DateOnly)}
	day := days[key]
	if day == nil {
		day = &courseDayCount{ids: make(map[string]struct{})}
		days[key] = day
	}
	day.lines++
	day.ids[seen.id] = struct{}{}
	return nil
}

func sortedDays(days map[courseDayKey]*courseDayCount) []CourseDay {
	rows := make([]CourseDay, 0, len(days))
	for key, count := range days {
		rows = append(rows, CourseDay{key.course, key.day, count.lines, int64(len(count.ids))})
	}
	slices.SortFunc(rows, func(a, b CourseDay) int {
		return compareThen(a.CourseID, b.CourseID, a.Day, b.Day)
	})
	return rows
}
