package sim

import (
	cryptorand "crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	randv2 "math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/twmb/franz-go/pkg/kfake"
)

// heapLimit is how far the heap may grow, in bytes, before a collection between
// two runs. During a run the collector is off: it would move goroutines about.
const heapLimit = 256 << 20

var once sync.Once

// steady prepares the process for runs that repeat exactly: one scheduler, and no
// garbage collection while a run goes on.
func steady() {
	once.Do(func() {
		runtime.GOMAXPROCS(1)
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(4 * heapLimit) // a runaway run is collected all the same
	})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > heapLimit {
		runtime.GC()
	}
}

// seedRandomness makes every source of randomness that the brokers and clients use
// depend on seed: crypto/rand (topic, member and producer ids) and the global
// source of math/rand (kfake's leaders and producer ids, which needs the setting
// randseednop=0). franz-go's own generators are seeded from the clock, which is
// virtual. The function returned puts crypto/rand back.
func seedRandomness(seed uint64) (restore func()) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	copy(key[8:], "hopcheck: one run")
	source := &countingReader{r: randv2.NewChaCha8(key)}
	old := cryptorand.Reader
	cryptorand.Reader = source
	drainPool(source)
	// Last, since draining draws from it too, as often as it takes.
	//
	// house: global source because kfake draws from it, and nothing else can seed it
	//lint:ignore SA1019 see above
	rand.Seed(int64(seed))
	return func() { cryptorand.Reader = old }
}

// countingReader counts the reads, to notice when a pool is filled again.
type countingReader struct {
	mu    sync.Mutex
	r     io.Reader
	reads int
}

func (c *countingReader) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	return c.r.Read(b)
}

func (c *countingReader) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reads
}

// drainPool empties the pool of random bytes that kfake keeps for the whole
// process, so that this run starts with bytes of its own: topics are created in
// throw-away clusters, 16 bytes each, until the source is asked.
func drainPool(source *countingReader) {
	const batch = 32
	var topics [batch]string
	for i := range topics {
		topics[i] = fmt.Sprintf("t%d", i)
	}
	for before := source.count(); source.count() == before; {
		var network kfake.VirtualNetwork
		kfake.MustCluster(
			kfake.Ports(1), kfake.ListenFn(network.Listen), kfake.SeedTopics(1, topics[:]...),
		).Close()
	}
}
