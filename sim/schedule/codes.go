package schedule

import (
	"slices"

	"github.com/hopcheck/hopcheck/model"
)

// kafkaError is a row of Kafka's public protocol error list
// (https://kafka.apache.org/protocol#protocol_error_codes), spelled as franz-go's
// kerr spells it, since that is what stands in a history.
type kafkaError struct {
	name string
	code int16
}

// kafkaErrors holds the errors that a produce, consume, group or transaction
// request can meet, sorted by number. Errors of administration are left out: no
// hop sends such requests.
var kafkaErrors = []kafkaError{
	{"UNKNOWN_SERVER_ERROR", -1},
	{"OFFSET_OUT_OF_RANGE", 1},
	{"CORRUPT_MESSAGE", 2},
	{"UNKNOWN_TOPIC_OR_PARTITION", 3},
	{"LEADER_NOT_AVAILABLE", 5},
	{"NOT_LEADER_FOR_PARTITION", 6},
	{"REQUEST_TIMED_OUT", 7},
	{"BROKER_NOT_AVAILABLE", 8},
	{"REPLICA_NOT_AVAILABLE", 9},
	{"MESSAGE_TOO_LARGE", 10},
	{"OFFSET_METADATA_TOO_LARGE", 12},
	{"NETWORK_EXCEPTION", 13},
	{"COORDINATOR_LOAD_IN_PROGRESS", 14},
	{"COORDINATOR_NOT_AVAILABLE", 15},
	{"NOT_COORDINATOR", 16},
	{"INVALID_TOPIC_EXCEPTION", 17},
	{"RECORD_LIST_TOO_LARGE", 18},
	{"NOT_ENOUGH_REPLICAS", 19},
	{"NOT_ENOUGH_REPLICAS_AFTER_APPEND", 20},
	{"INVALID_REQUIRED_ACKS", 21},
	{"ILLEGAL_GENERATION", 22},
	{"INCONSISTENT_GROUP_PROTOCOL", 23},
	{"INVALID_GROUP_ID", 24},
	{"UNKNOWN_MEMBER_ID", 25},
	{"INVALID_SESSION_TIMEOUT", 26},
	{"REBALANCE_IN_PROGRESS", 27},
	{"INVALID_COMMIT_OFFSET_SIZE", 28},
	{"TOPIC_AUTHORIZATION_FAILED", 29},
	{"GROUP_AUTHORIZATION_FAILED", 30},
	{"CLUSTER_AUTHORIZATION_FAILED", 31},
	{"INVALID_TIMESTAMP", 32},
	{"UNSUPPORTED_VERSION", 35},
	{"INVALID_REQUEST", 42},
	{"POLICY_VIOLATION", 44},
	{"OUT_OF_ORDER_SEQUENCE_NUMBER", 45},
	{"DUPLICATE_SEQUENCE_NUMBER", 46},
	{"INVALID_PRODUCER_EPOCH", 47},
	{"INVALID_TXN_STATE", 48},
	{"INVALID_PRODUCER_ID_MAPPING", 49},
	{"INVALID_TRANSACTION_TIMEOUT", 50},
	{"CONCURRENT_TRANSACTIONS", 51},
	{"TRANSACTION_COORDINATOR_FENCED", 52},
	{"TRANSACTIONAL_ID_AUTHORIZATION_FAILED", 53},
	{"OPERATION_NOT_ATTEMPTED", 55},
	{"KAFKA_STORAGE_ERROR", 56},
	{"UNKNOWN_PRODUCER_ID", 59},
	{"FETCH_SESSION_ID_NOT_FOUND", 70},
	{"INVALID_FETCH_SESSION_EPOCH", 71},
	{"FENCED_LEADER_EPOCH", 74},
	{"UNKNOWN_LEADER_EPOCH", 75},
	{"OFFSET_NOT_AVAILABLE", 78},
	{"MEMBER_ID_REQUIRED", 79},
	{"GROUP_MAX_SIZE_REACHED", 81},
	{"FENCED_INSTANCE_ID", 82},
	{"INVALID_RECORD", 87},
	{"UNSTABLE_OFFSET_COMMIT", 88},
	{"THROTTLING_QUOTA_EXCEEDED", 89},
	{"PRODUCER_FENCED", 90},
	{"UNKNOWN_TOPIC_ID", 100},
	{"TRANSACTIONAL_ID_NOT_FOUND", 105},
	{"FENCED_MEMBER_EPOCH", 110},
	{"UNRELEASED_INSTANCE_ID", 111},
	{"UNSUPPORTED_ASSIGNOR", 112},
	{"STALE_MEMBER_EPOCH", 113},
	{"TRANSACTION_ABORTABLE", 120},
}

// storeErrors are the words for what an object store or a database can answer.
var storeErrors = []string{
	"unavailable",  // no server answers, or HTTP 503
	"throttled",    // HTTP 429, or 503 with SlowDown
	"internal",     // HTTP 500
	"conflict",     // HTTP 409; a serialization failure of a database
	"precondition", // HTTP 412: a conditional call found another state
	"denied",       // HTTP 403
}

// javaName is how Kafka's own clients call an error that franz-go still calls by
// its older name; parsing accepts it and prints the name that histories use.
const javaName, historyName = "NOT_LEADER_OR_FOLLOWER", "NOT_LEADER_FOR_PARTITION"

// Code returns the number of a Kafka error name, and false for a name that is not
// in the table of errors that a schedule may use.
func Code(name string) (int16, bool) {
	if name == javaName {
		name = historyName
	}
	for _, e := range kafkaErrors {
		if e.name == name {
			return e.code, true
		}
	}
	return 0, false
}

// KafkaErrors returns the Kafka error names that a schedule may use at a request
// or a reply, in the order of their numbers. The slice is the caller's.
func KafkaErrors() []string {
	names := make([]string, len(kafkaErrors))
	for i, e := range kafkaErrors {
		names[i] = e.name
	}
	return names
}

// StoreErrors returns the words that a schedule may use at a call or a return:
// unavailable, throttled, internal, conflict, precondition, denied. The slice is
// the caller's.
func StoreErrors() []string { return slices.Clone(storeErrors) }

// ofStore reports whether events of a kind are answered with store error words.
func ofStore(k model.Kind) bool { return k == model.Call || k == model.Return }

// drawn lists the errors that a right program must survive, mildest first. Not
// every name that parses is here: what is drawn must be an answer that a real
// server could give in that state, or a right program would be blamed for a
// server that lies. So OFFSET_OUT_OF_RANGE is not (nothing was deleted), and a
// reply has names of its own: those that do not deny what was applied.
type drawn struct {
	op      string
	request []string // not applied
	reply   []string // applied; nil where the request changes nothing: same as request
}

var drawnCodes = []drawn{
	// No error that is final: after one, a client bumps its epoch, and kfake then
	// takes the retry of an earlier batch for a new one (docs/decisions/0006).
	{"Produce",
		[]string{"NOT_ENOUGH_REPLICAS", "NOT_LEADER_FOR_PARTITION", "REQUEST_TIMED_OUT",
			"KAFKA_STORAGE_ERROR"},
		[]string{"REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
			"NOT_LEADER_FOR_PARTITION"}},
	{"OffsetCommit",
		[]string{"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "REQUEST_TIMED_OUT",
			"UNKNOWN_MEMBER_ID"},
		[]string{"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "REQUEST_TIMED_OUT"}},
	{"TxnOffsetCommit",
		[]string{"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "UNKNOWN_MEMBER_ID",
			"INVALID_PRODUCER_EPOCH"},
		[]string{"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "REQUEST_TIMED_OUT"}},
	{"InitProducerID",
		[]string{"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS"},
		[]string{"COORDINATOR_NOT_AVAILABLE", "CONCURRENT_TRANSACTIONS"}},
	{"AddPartitionsToTxn",
		[]string{"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS",
			"INVALID_PRODUCER_EPOCH"},
		[]string{"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"}},
	{"AddOffsetsToTxn",
		[]string{"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS",
			"INVALID_PRODUCER_EPOCH"},
		[]string{"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"}},
	{"EndTxn",
		[]string{"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS",
			"INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED"},
		[]string{"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS"}},
	{"OffsetFetch", []string{"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR",
		"UNSTABLE_OFFSET_COMMIT"}, nil},
	{"FindCoordinator", []string{"COORDINATOR_NOT_AVAILABLE"}, nil},
	{"JoinGroup", []string{"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR",
		"UNKNOWN_MEMBER_ID"}, []string{"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"}},
	{"SyncGroup", []string{"REBALANCE_IN_PROGRESS", "NOT_COORDINATOR",
		"UNKNOWN_MEMBER_ID"}, []string{"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"}},
	{"Heartbeat", []string{"REBALANCE_IN_PROGRESS", "NOT_COORDINATOR",
		"UNKNOWN_MEMBER_ID"}, nil},
	{"ConsumerGroupHeartbeat", []string{"COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR",
		"UNKNOWN_MEMBER_ID"}, []string{"COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"}},
	{"Fetch", []string{"NOT_LEADER_FOR_PARTITION", "UNKNOWN_TOPIC_OR_PARTITION",
		"KAFKA_STORAGE_ERROR"}, nil},
	{"ListOffsets", []string{"NOT_LEADER_FOR_PARTITION", "LEADER_NOT_AVAILABLE",
		"OFFSET_NOT_AVAILABLE"}, nil},
}

// defaultCodes returns the errors to draw at an event, mildest first; none for a
// Kafka request that the table does not know.
func defaultCodes(k model.Kind, op string) []string {
	switch k {
	case model.Call:
		return []string{"unavailable", "throttled", "internal", "denied"}
	case model.Return: // applied: "throttled" and "denied" would deny it
		return []string{"internal", "unavailable"}
	}
	for _, d := range drawnCodes {
		switch {
		case d.op != op:
		case k == model.Reply && d.reply != nil:
			return d.reply
		default:
			return d.request
		}
	}
	return nil
}
