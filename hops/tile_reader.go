package hops

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"
)

// TileStore is the part of an [ObjectStore] that readers of a tile use.
type TileStore interface {
	ObjectLister
	ObjectConditional
}

// sinkLogLooks is how often a sink log is listed anew when a compaction moved it
// under the reader.
const sinkLogLooks = 5

// errMoved says that the log changed between its listing and its reading, or
// that a listing over several pages was not of one moment.
var errMoved = errors.New("the sink log changed while it was read")

// ReadTile returns all that [TileRows] does, or its error.
func ReadTile(ctx context.Context, store TileStore, prefix string) ([]TileRow, error) {
	var rows []TileRow
	for row, err := range TileRows(ctx, store, prefix) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// TileRows returns the rows of a tile, in the order of its sink log: those files
// that the log names, and no others. Rows of several batches with the same window
// and course are not merged; see [TileRow] for what may be added up. It may be
// called while a [Tile] runs, and then sees whole batches: those that the log had
// when the loop began. An error is the last thing it returns, and the rows before
// it are not the whole tile. It is a [*TileDamageError] when the log, or a file
// that it names, cannot be read. Each loop over it reads the tile anew.
//
// In memory are the rows of one file and the names of all.
func TileRows(
	ctx context.Context, store TileStore, prefix string,
) iter.Seq2[TileRow, error] {
	return func(yield func(TileRow, error) bool) {
		files, _, err := readSinkLog(ctx, store, prefix)
		if err != nil {
			yield(TileRow{}, err)
			return
		}
		for _, file := range files {
			rows, err := readPart(ctx, store, prefix, file)
			if err != nil {
				yield(TileRow{}, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// readPart reads one file that the sink log names, by its place in the store.
func readPart(
	ctx context.Context, store TileStore, prefix string, file SinkFile,
) ([]TileRow, error) {
	key := prefix + "/" + path.Base(file.Path)
	damage := func(reason string) error {
		return &TileDamageError{Key: key, Reason: reason, Remedy: remedyGap}
	}
	if !strings.HasSuffix("/"+file.Path, "/"+key) {
		return nil, damage(fmt.Sprintf("the sink log names %s, which is not in the tile's folder",
			file.Path))
	}
	body, ok, err := getObject(ctx, store, key)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", key, err)
	case !ok:
		return nil, damage("the sink log names it and it is missing")
	case int64(len(body)) != file.Size:
		return nil, damage(fmt.Sprintf("it has %d bytes, and %d in the sink log",
			len(body), file.Size))
	}
	rows, err := DecodeTileRows(body)
	if err != nil {
		return nil, damage(err.Error())
	}
	return rows, nil
}

// readSinkLog returns the files that are the tile now, and the listing that says
// so. A compaction replaces files while we read, so it looks again a few times.
func readSinkLog(
	ctx context.Context, store TileStore, prefix string,
) (files []SinkFile, found sinkListing, err error) {
	for range sinkLogLooks {
		files, found, err = lookAtSinkLog(ctx, store, prefix)
		if !errors.Is(err, errMoved) {
			return files, found, err
		}
	}
	return nil, found, &TileDamageError{
		Key: prefix + "/" + SinkLogDir + "/", Remedy: remedyGap,
		Reason: fmt.Sprintf("it is not whole, at %d looks: %v", sinkLogLooks, err),
	}
}

func lookAtSinkLog(
	ctx context.Context, store TileStore, prefix string,
) ([]SinkFile, sinkListing, error) {
	dir := prefix + "/" + SinkLogDir + "/"
	names, err := listNames(ctx, store, dir)
	if err != nil {
		return nil, sinkListing{}, fmt.Errorf("listing %s: %w", dir, err)
	}
	found := readSinkListing(names)
	if found.missing >= 0 {
		return nil, found, fmt.Errorf("%w: batch %d is missing below batch %d",
			errMoved, found.missing, found.last)
	}
	var files []SinkFile
	for _, name := range found.state {
		body, ok, err := getObject(ctx, store, dir+name)
		if err != nil {
			return nil, found, fmt.Errorf("reading %s: %w", dir+name, err)
		}
		if !ok {
			return nil, found, fmt.Errorf("%w: %s was listed and is gone", errMoved, name)
		}
		more, err := ParseSinkLog(body)
		if err != nil {
			return nil, found, &TileDamageError{
				Key: dir + name, Reason: err.Error(), Remedy: remedyGap,
			}
		}
		files = append(files, more...)
	}
	return visible(files), found, nil
}
