package bus

import "time"

// Topics and groups of the bus.
const (
	Progress     = "learning.progress"
	ProgressDLQ  = "learning.progress.dlq"
	LandingGroup = "learning-progress-raw-landing"

	ValidatedTopic = "learning.progress.validated"
	ValidatedGroup = "learning-progress-validated"
)

// TilePrefix is the folder of hop 3 in the store.
const TilePrefix = "tile"

// Day is the window of the morning model.
const Day = 24 * time.Hour

// Words after a cell in what the morning model reports.
const (
	LinesWord    = " lines"
	DistinctWord = " distinct"
)
