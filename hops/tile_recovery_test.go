package hops

import (
	"errors"
	"strings"
	"testing"
)

// What the three logs say together decides where a run begins.
func TestDecide(t *testing.T) {
	const ahead, gap = "ahead of the checkpoint", "missing"
	for _, test := range []struct {
		name                   string
		noMetadata             bool
		offsets, sink, commits string
		want                   decision
		refuse                 string
	}{
		{"nothing", true, "", "", "", decision{-1, false, false}, ""},
		{"metadata alone", false, "", "", "", decision{-1, false, false}, ""},
		{"planned", false, "0", "", "", decision{0, true, false}, ""},
		{"in the sink log", false, "0", "0", "", decision{0, false, true}, ""},
		{"committed", false, "0", "0", "0", decision{0, false, false}, ""},
		{"planned again", false, "0 1", "0", "0", decision{1, true, false}, ""},
		{"compacted", false, "0 1 2 3 4 5 6 7 8 9", "0 1 2 9.compact", "0 1 2 3 4 5 6 7 8",
			decision{9, false, true}, ""},
		{"after a compaction", false, "8 9 10", "9.compact", "8 9", decision{10, true, false}, ""},
		{"temporary files", false, "0 .1.tmp 1.tmp", "0 .1.crc", "0 x",
			decision{0, false, false}, ""},
		{"A8: checkpoint lost", true, "", "0 1 2", "", decision{}, ahead},
		{"A8: and begun anew", false, "0", "0 1 2", "0", decision{}, ahead},
		{"A8: compacted", false, "0", "9.compact", "0", decision{}, ahead},
		{"metadata lost", true, "0", "0", "0", decision{}, "it is missing though"},
		{"offsets lost", false, "", "", "0", decision{}, "batch 0 is committed but"},
		{"offsets gap", false, "0 2", "0 1 2", "0 1", decision{}, gap},
		{"commits gap", false, "0 1 2 3", "0 1 2", "0 2", decision{}, gap},
		{"commits lost", false, "0 1 2", "0 1 2", "", decision{}, "batch 2 is planned but"},
		{"commit lost", false, "0 1 2", "0 1 2", "0", decision{}, "batch 2 is planned but"},
		{"sink log lost", false, "0 1", "", "0 1", decision{}, "sink log ends at batch -1"},
		{"sink log behind", false, "0 1", "0", "0 1", decision{}, "sink log ends at batch 0"},
		{"sink log gap", false, "0 1 2", "0 2", "0 1", decision{}, "batch 1 is missing"},
		{"compact file lost", false, "8 9 10", "10", "9 8", decision{}, "batch 0 is missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tile := &Tile{cfg: TileConfig{Prefix: "tile"}}
			got, err := tile.decide(tileListing{
				metadata: !test.noMetadata, offsets: strings.Fields(test.offsets),
				sink: strings.Fields(test.sink), commits: strings.Fields(test.commits),
			})
			if test.refuse == "" {
				if got != test.want || err != nil {
					t.Errorf("%+v, %v, want %+v", got, err, test.want)
				}
				return
			}
			var damage *TileDamageError
			if !errors.As(err, &damage) || !strings.Contains(damage.Reason, test.refuse) {
				t.Fatalf("%v, want %q", err, test.refuse)
			}
			if !strings.HasPrefix(damage.Key, "tile/") || damage.Remedy == "" {
				t.Errorf("%+v", damage)
			}
		})
	}
}
