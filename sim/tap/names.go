package tap

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"sync"

	"github.com/hopcheck/hopcheck/model"
)

// Raw is a record as it stands on the wire.
type Raw struct {
	Topic      string
	Key, Value []byte
	Headers    []Header
}

// Header is one header of a [Raw] record.
type Header struct {
	Key   string
	Value []byte
}

// Identify tells what the application calls a record: its identity, and where it
// came from when it is a copy (a dead letter, a derived record); the zero
// Position otherwise.
type Identify func(r Raw) (id string, from model.Position)

// Names is what the boundary of one run knows by name: topics by their id,
// members and producers by the order in which they appear, so that random ids do
// not make two equal runs differ. It is safe for concurrent use.
type Names struct {
	identify Identify
	classify Classify

	mu        sync.Mutex
	topics    map[[16]byte]string
	members   map[string]string
	producers map[int64]int64
	records   map[described]model.Record
}

// Classify tells why the application's contract rejects a record, "" when it does
// not, and the cell that the record is counted in, "" for none (see
// [model.Record]). It must depend on the record alone.
type Classify func(r Raw) (class, cell string)

// ClassifyWith has every record say what c says of it. Call it before the names
// are used.
func (n *Names) ClassifyWith(c Classify) { n.classify = c }

// NewNames returns the names of a new run. A nil identify takes the record's
// digest for its identity.
func NewNames(identify Identify) *Names {
	if identify == nil {
		identify = func(r Raw) (string, model.Position) { return Digest(r.Value), model.Position{} }
	}
	return &Names{
		identify:  identify,
		topics:    make(map[[16]byte]string),
		members:   make(map[string]string),
		producers: make(map[int64]int64),
		records:   make(map[described]model.Record),
	}
}

// Digest returns the 16 hex digits by which histories compare values and
// objects: the beginning of their SHA-256.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// Topic records that a topic id belongs to name, as a metadata reply says.
func (n *Names) Topic(id [16]byte, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.topics[id] = name
}

// topic returns the name for a frame that gives a name or an id.
func (n *Names) topic(name string, id [16]byte) string {
	if name != "" {
		return name
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if name, ok := n.topics[id]; ok {
		return name
	}
	if id == ([16]byte{}) {
		return ""
	}
	return "id-" + hex.EncodeToString(id[:4])
}

// Rename replaces the random member id and producer id in e by their order of
// appearance. A gate calls it when the event enters the history, so that the
// order is that of the history.
func (n *Names) Rename(e *model.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.Member != "" {
		e.Member = n.member(e.Member)
	}
	e.Producer = n.producer(e.Producer)
	for i := range e.Parts {
		for j := range e.Parts[i].Records {
			r := &e.Parts[i].Records[j]
			r.Producer = n.producer(r.Producer)
		}
	}
}

func (n *Names) member(id string) string {
	short, ok := n.members[id]
	if !ok {
		short = "m" + strconv.Itoa(len(n.members)+1)
		n.members[id] = short
	}
	return short
}

// producer numbers a raw producer id. In decoded events 0 and below mean "none":
// raw ids are stored one higher, since brokers may give out 0.
func (n *Names) producer(raw int64) int64 {
	if raw <= 0 {
		return 0
	}
	number, ok := n.producers[raw]
	if !ok {
		number = int64(len(n.producers)) + 1
		n.producers[raw] = number
	}
	return number
}
