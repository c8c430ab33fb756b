package model

import "time"

// Kind says what sort of thing an [Event] is. The first four are boundary
// events: what crosses the edge of a process, one at a time, and therefore also
// every place where the process can die.
type Kind string

// The kinds of event, in the order in which a run meets them.
const (
	Request Kind = "request" // a Kafka frame on its way from the process to a broker
	Reply   Kind = "reply"   // a Kafka frame on its way back
	Call    Kind = "call"    // a call to a store or a database
	Return  Kind = "return"  // what that call came back with

	Start  Kind = "start"  // a life of a process begins
	Crash  Kind = "crash"  // a life ends by a kill
	Stop   Kind = "stop"   // a life is asked to end, as by SIGTERM
	Exit   Kind = "exit"   // a life ended by itself; Err is what it returned
	Pause  Kind = "pause"  // the whole process stands still
	Resume Kind = "resume" // and goes on

	Fault Kind = "fault" // a fault of the schedule took effect; Note is the fault
	Heal  Kind = "heal"  // faults end: the liveness phase begins

	Note    Kind = "note"    // what a client library or a caller saw; not a place to die
	Alert   Kind = "alert"   // the process called for an operator
	Observe Kind = "observe" // what the audit read at the end of the run
)

// Boundary reports whether events of this kind cross the edge of a process.
func (k Kind) Boundary() bool {
	return k == Request || k == Reply || k == Call || k == Return
}

func (k Kind) known() bool {
	switch k {
	case Request, Reply, Call, Return, Start, Crash, Stop, Exit, Pause, Resume,
		Fault, Heal, Note, Alert, Observe:
		return true
	}
	return false
}

// Outcome is what a process may conclude from an answer. There are three, not
// two: a lost answer is Unknown, and no code may turn that into NotDone.
type Outcome string

// The outcomes. The zero value is for events that are no answer.
const (
	NoOutcome Outcome = ""
	Done      Outcome = "done"
	NotDone   Outcome = "not-done"
	Unknown   Outcome = "unknown"
)

func (o Outcome) known() bool {
	return o == NoOutcome || o == Done || o == NotDone || o == Unknown
}

// Event is one line of a [History]. Fields that mean nothing for an event are
// left zero, except offsets and sequences, where -1 is "none" (see [Part]).
//
// A reply or a return is recorded as the broker or the store made it, whoever
// got to see it: where the answer was lost, its Outcome is Unknown and the rest
// of the event still says what really happened.
type Event struct {
	Seq     int64         // position in the history, from 1
	At      time.Duration // since the run began; virtual in simulation, monotonic in live mode
	Proc    string        // "landing/0"; "" for the world itself
	Life    int           // life (incarnation) of the process, from 1; 0 for the world
	Kind    Kind
	Op      string  // Kafka API ("Produce"), call ("put"), note ("send", "ack", "ask", "answer")
	Nth     int     // n-th of this kind and op in this life, from 1: what a schedule points at
	Of      int64   // of an answer: the Seq of its request or call; 0: not said
	Outcome Outcome // of a reply, a return, an "ack" or an "answer"
	Err     string  // Kafka error name ("NOT_ENOUGH_REPLICAS") or the text of an error

	Producer   int64  // producer ids, numbered from 1 in order of first appearance; 0: none
	Epoch      int16  // producer epoch; meaningful where Producer is not 0
	Group      string // consumer group
	Member     string // member id, renamed "m1", "m2"... in order of first appearance
	Generation int32  // generation (classic) or member epoch (KIP-848), as the frame says it
	TxnID      string // transactional id

	Parts []Part // what it says of partitions: records, offsets

	Key    string // object key, or key prefix of a list
	Digest string // of the object's bytes: 16 hex digits
	ETag   string // entity tag that a conditional call named or an answer gave
	Bytes  int64  // size of the frame or the object, in bytes
	LSN    string // position in a database's log, in the form that sorts as its order
	Counts []Count
	Note   string // anything for a human reader: one line
}

// Count is a number that an object holds, or that a reader gives, for something:
// the events of a window and course, the bytes of a file that a manifest names.
type Count struct {
	Of string
	N  int64
}

// Part is what an event says of one partition.
type Part struct {
	Topic     string
	Partition int32
	// Offset is what the event is about: the base offset of a Produce reply, the
	// offset that a Fetch asks from, the next offset to read in a commit. -1: none.
	Offset int64
	// End is one past the last offset: the log end (high watermark) in a Fetch
	// reply and in the audit. -1: not said.
	End int64
	// Stable is the last stable offset. -1: not said.
	Stable int64
	// Sequence is the base sequence of a Produce request. -1: none.
	Sequence int32
	Err      string // Kafka error name for this partition
	Records  []Record
}

// PartOf returns a part of which nothing is said yet: its offsets and sequence
// are -1. A literal Part{} says offset 0, end 0, stable 0 and sequence 0.
func PartOf(topic string, partition int32) Part {
	return Part{Topic: topic, Partition: partition, Offset: -1, End: -1, Stable: -1, Sequence: -1}
}

// RecordKind says what stands at an offset.
type RecordKind string

// What can stand at an offset. Data is the zero value.
const (
	Data         RecordKind = ""
	CommitMarker RecordKind = "commit"  // control record: a transaction committed
	AbortMarker  RecordKind = "abort"   // control record: a transaction aborted
	Hole         RecordKind = "hole"    // an object says that nothing stands at this offset now
	Rejected     RecordKind = "reject"  // an object says that this offset went to the dead letters
	Aborted      RecordKind = "aborted" // data of an aborted transaction, as the audit found it
)

func (k RecordKind) known() bool {
	switch k {
	case Data, CommitMarker, AbortMarker, Hole, Rejected, Aborted:
		return true
	}
	return false
}

// Record is one record of a partition, or one line of an object.
type Record struct {
	Offset   int64 // -1 where not known yet (a Produce request)
	Kind     RecordKind
	ID       string // the application's identity of the record ("event_id")
	Key      string
	Digest   string   // of the value: 16 hex digits
	Class    string   // why the contract rejects it; "": it does not, or nobody asked
	Cell     string   // what the world counts it under, as [Count] says Of; "": nothing
	From     Position // where a dead letter or a derived record came from; zero: not said
	Producer int64    // who appended it, numbered as in [Event]; set by the audit, 0: none
}

// Position is one offset of one partition. The zero value means "not said".
type Position struct {
	Topic     string
	Partition int32
	Offset    int64
}

// Took returns the place in the history at which what the answer says took
// effect: that of its request or call where the answer names it, since brokers and
// stores act when asked, and an answer may be long on its way; else its own.
func (e *Event) Took() int64 {
	if e.Of != 0 {
		return e.Of
	}
	return e.Seq
}
