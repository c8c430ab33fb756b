package specs

import "github.com/hopcheck/hopcheck/model/check"

// Mistakes that a tile can be given.
const (
	sinkLogFirst    = "sink-log-first"
	replan          = "replan"
	deleteFirst     = "delete-first"
	commitsLogFirst = "commits-log-first"
	restartAtZero   = "restart-at-zero"
	existsIsMine    = "exists-is-mine"
	putOver         = "put-over"
)

func init() {
	one := map[string]int{"runs": 1, "late": 0, "accidents": 0}
	two := map[string]int{"accidents": 0}
	register(protocol[TileState]{
		Entry: Entry{
			Name: "tile",
			Says: "a topic into files, in batches, through a checkpoint and a sink log",
			Promises: []string{
				"Through the sink log, every offset of a committed batch is counted once.",
				"What the sink log has named stays there, and every file that it names is stored.",
				"Of two runs on one checkpoint at most one wins each batch.",
				"No run takes the logs for damaged that are not.",
				"When all is quiet, everything is committed, or a run says that the checkpoint " +
					"was lost.",
			},
			Params: []Param{
				{"records", "offsets of all partitions together", 4, 3, 1, 12},
				{"compact", "batches after which the sink log is compacted", 2, 2, 2, 10},
				{"runs", "runs on one checkpoint, which one should have alone", 2, 2, 1,
					MaxTileRuns},
				{"crashes", "kills of a run", 2, 1, 0, 9},
				{"lost", "calls that fail, or whose answers are lost", 1, 1, 0, 9},
				{"late", "puts that arrive when their run is gone", 1, 0, 0, 9},
				{"accidents", "times that the checkpoint is removed while nobody runs", 1, 1, 0, 9},
			},
			Bugs: []Bug{
				// An entry holds the sizes of files that are stored, so no mutant does it.
				{sinkLogFirst, "the sink log names the parts before they are stored", "", one},
				{replan, "a batch that was not committed is planned anew after a restart",
					"replan", one},
				{deleteFirst, "what a compact file stands for is removed before it is there",
					"compact-delete-first", one},
				{commitsLogFirst, "a batch is committed before the sink log names its parts",
					"tile-commit-first", one},
				{restartAtZero, "a checkpoint that is gone counts as a new one, and the sink log " +
					"has its batches already", "restart-at-zero",
					map[string]int{"runs": 1, "late": 0}},
				{existsIsMine, "an entry that is there is taken for one's own", "exists-is-mine",
					two},
				{putOver, "entries are put over whatever is there", "sink-log-put", two},
			},
			// A crash, and accidents that its worlds have without the specification.
			Untold:  []string{"crash, put under way", "lose checkpoint", "refuse"},
			Conform: conformTile,
		},
		build: func(v Values, bug string) check.Spec[TileState] {
			return newTile(v, bug).spec()
		},
		say:   sayTile,
		show:  (*TileState).String,
		class: classOfTile,
		lift:  liftTile,
	})
}
