package hops

import (
	"cmp"
	"fmt"
)

// TileDamageError says that what a tile has stored cannot be trusted, so that
// going on would lose or repeat data. Nothing was changed. Key is the object at
// fault, Reason what is wrong with it, and Remedy what an operator can do.
type TileDamageError struct {
	Key, Reason, Remedy string
}

// Error names the object, what is wrong, and what to do.
func (e *TileDamageError) Error() string {
	return fmt.Sprintf("tile refuses to go on: %s: %s; %s", e.Key, e.Reason, e.Remedy)
}

// TileConflictError says that another run has written batch Batch under Key, or
// what follows from it: two runs live on one checkpoint. The other one has won
// this batch. What this run wrote is named by no log, so it is no data.
type TileConflictError struct {
	Key   string
	Batch int64
}

// Error names the batch and the object, and says what to do.
func (e *TileConflictError) Error() string {
	return fmt.Sprintf("tile stops at batch %d: %s was written by another run on the same "+
		"checkpoint; see that only one runs, then start it again", e.Batch, e.Key)
}

// RangeLostError says that the log no longer has offsets that the tile must
// read next: from Offset up to, but without, Start, where the partition now
// begins. Batch is the batch that needs them; Planned says that its range was
// already written to the checkpoint.
type RangeLostError struct {
	Topic         string
	Partition     int32
	Offset, Start int64
	Batch         int64
	Planned       bool
}

// Error names the offsets and says what to do.
func (e *RangeLostError) Error() string {
	planned := "not planned yet"
	if e.Planned {
		planned = "planned"
	}
	return fmt.Sprintf("tile stops at batch %d: %s/%d no longer has offset %d (%s): it begins at "+
		"%d; retention removed them or the topic was created anew; the tile is whole up to the "+
		"batch before: begin a new one under another prefix, and raise the topic's retention",
		e.Batch, e.Topic, e.Partition, e.Offset, planned, e.Start)
}

func compareThen[A, B cmp.Ordered](a1, a2 A, b1, b2 B) int {
	return cmp.Or(cmp.Compare(a1, a2), cmp.Compare(b1, b2))
}
