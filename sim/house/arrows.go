package house

// Room is a row of the table: a package and what it may import besides the
// standard library. A path that ends in "/..." stands for the folder and all
// below it; within one such row packages may import each other.
type Room struct {
	Path    string
	Ours    []string // packages of this module
	Outside []string // foreign packages
}

// Foreign packages that several rows name.
const (
	franz   = "github.com/twmb/franz-go/pkg/..."
	kfake   = "github.com/twmb/franz-go/pkg/kfake/..."
	rapid   = "pgregory.net/rapid/..."
	parquet = "github.com/parquet-go/parquet-go/..."
	unix    = "golang.org/x/sys/..."
	anyone  = "..."
)

// Rooms is the table. The row with the longest path decides. The arrows keep
// hops free of the harness, promises free of the world, and the live binary
// free of the simulator.
var Rooms = []Room{
	{"hops/...", nil, []string{franz, parquet}},
	{"model", nil, nil},
	{"model/check", nil, nil},
	{"model/specs", []string{"model", "model/check"}, nil},
	{"props", []string{"model"}, nil},
	{"sim/schedule", []string{"model"}, []string{franz}},
	{"sim/tap", []string{"model", "sim/schedule"}, []string{franz}},
	{"sim/contract", []string{"sim/tap"}, nil},
	{"sim/database", nil, nil},
	{"sim/bus", []string{"hops/...", "model", "sim/tap"}, nil},
	{
		"sim",
		[]string{"model", "props", "sim/tap", "sim/schedule", "sim/database"},
		[]string{franz, rapid, unix},
	},
	{
		"sim/worlds",
		[]string{
			"hops/...", "model", "model/check", "model/specs", "props",
			"sim", "sim/tap", "sim/schedule", "sim/database", "sim/bus",
		},
		[]string{franz, parquet},
	},
	{
		"sim/mutants",
		[]string{
			"hops/...", "model", "model/check", "model/specs", "props",
			"sim", "sim/tap", "sim/schedule", "sim/database", "sim/bus", "sim/worlds",
		},
		[]string{franz, parquet},
	},
	{"sim/house", nil, nil},
	{
		"cmd/simrun/...",
		[]string{
			"hops/...", "model", "model/check", "model/specs", "props",
			"sim", "sim/tap", "sim/schedule", "sim/database", "sim/bus", "sim/worlds",
			"sim/mutants",
		},
		[]string{anyone},
	},
	{
		"cmd/live/...",
		[]string{
			"hops/...", "model", "model/check", "model/specs", "props",
			"sim/tap", "sim/schedule", "sim/contract", "sim/bus",
		},
		[]string{anyone},
	},
}

// Keep is a package that only some rooms import, whatever their rows say.
type Keep struct {
	What    string
	In      []string
	Instead string // what another room does
}

// Kept is what is kept in its rooms. An exception is a path in In with a comment
// that says why.
var Kept = []Keep{
	// sim/contract is a test that others run on their own stores, live mode too, which
	// must not import sim.
	{
		"testing/...",
		[]string{"sim", "sim/contract"},
		"return an error or a value: sim.Run and sim.Check report it",
	},
	{kfake, []string{"sim"}, "speak to the brokers that the world hands out"},
	{rapid, []string{"sim"}, "take the choice as an argument and let sim draw it"},
	{"github.com/aws/...", []string{"cmd/live/..."}, "use the store that the hop is given"},
	{"github.com/jackc/...", []string{"cmd/live/..."}, "use the outbox that the hop is given"},
	{"github.com/lib/pq/...", []string{"cmd/live/..."}, "use the outbox that the hop is given"},
}

// NeverReach is, by room, what must not be linked into it through any of ours.
var NeverReach = map[string][]string{
	"cmd/live/...": {Module + "/sim", kfake, rapid},
}
