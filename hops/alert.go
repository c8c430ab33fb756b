package hops

// Alert is something an operator must know about while a hop goes on running.
//
// Hop is "player", "landing", "tile", "validated", "validated reader" or a program of
// the enrollment, What is one of the Alert constants (stable, for routing), and Detail
// is free text that names the topic, partition, offset, object or event id.
type Alert struct {
	Hop, What, Detail string
}

// What an [Alert] is about.
const (
	// AlertPutFailed says that a store refused or lost a write too many times.
	AlertPutFailed = "put-failed"
	// AlertDLQFailed says that a reject could not be dead-lettered.
	AlertDLQFailed = "dlq-failed"
	// AlertCommitFailed says that the group's offset could not be committed.
	AlertCommitFailed = "commit-failed"
	// AlertTrimmed says that retention removed offsets before they were landed.
	AlertTrimmed = "trimmed"
	// AlertDamage says that a partition stopped because what is stored and what
	// is committed contradict each other; see [DamageError].
	AlertDamage = "damage"
	// AlertFetchFailed says that a fetch came back with an error that the client
	// does not retry by itself.
	AlertFetchFailed = "fetch-failed"
	// AlertUnresolved says that the player gave up on an event.
	AlertUnresolved = "unresolved"
	// AlertAborted says that a transaction was not committed, by an error and not
	// by a rebalance. Its records are carried over by a later one.
	AlertAborted = "aborted"
	// AlertFenced says that another process owns the identity of this one, which
	// has ended; see [FencedError].
	AlertFenced = "fenced"
	// AlertTileCallFailed says that a call that the tile needs, to the store or to
	// Kafka, failed too many times, or that a clean-up was left undone.
	AlertTileCallFailed = "tile-call-failed"
	// AlertBehind says that a partition ends below offsets that were already read.
	AlertBehind = "log-behind"
	// AlertStopped says that a hop ended by an error of another kind.
	AlertStopped = "stopped"
)

// String returns hop, kind and detail on one line.
func (a Alert) String() string { return a.Hop + ": " + a.What + ": " + a.Detail }
