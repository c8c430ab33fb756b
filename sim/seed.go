package sim

import (
	cryptorand "crypto/rand"
	"encoding/binary"
	"io"
	"math/rand"
	randv2 "math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
)

// heapLimit is how far the heap may grow, in bytes, before a collection between
// two runs. During a run the collector is off: it would move goroutines about.
const heapLimit = 256 << 20

var once sync.Once

// steady prepares the process for runs that repeat exactly: one scheduler, and no
// garbage collection while a run goes on.
func steady() {
	if runtime.GOMAXPROCS(0) != 1 {
		runtime.GOMAXPROCS(1) // not only once: benchmarks set it back
	}
	once.Do(func() {
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
	old := cryptorand.Reader
	cryptorand.Reader = &lockedReader{r: randv2.NewChaCha8(key)}
	emptyPool()
	// house: global source because kfake draws from it, and nothing else can seed it
	//lint:ignore SA1019 see above
	rand.Seed(int64(seed))
	return func() { cryptorand.Reader = old }
}

// lockedReader makes a source safe for concurrent use, as crypto/rand's is.
type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(b)
}
