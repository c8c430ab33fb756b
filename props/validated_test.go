package props_test

import (
	"testing"
	"time"

	"github.com/hopcheck/hopcheck/props"
)

func TestOffsetArithmeticEdges(t *testing.T) {
	checkEdges(t, props.OffsetArithmetic("in", "out", "g"), arithmeticEdges)
	checkEdges(t, props.OffsetArithmetic("in", "out", "g"), arithmeticTransactionEdges)
}

var arithmeticEdges = []edge{
	{"output without an offset, or with one that was refused", `
1 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=x [out/0 @0 {@0 from=in/0@0} {@1 from=in/1@7}]
2 1s v/0 life 1 reply TxnOffsetCommit 1 not-done producer=1 epoch=0 group=g txn=x [in/0 @1] [in/1 @8 err=ILLEGAL_GENERATION]
3 1s v/0 life 1 reply TxnOffsetCommit 2 done producer=1 epoch=0 group=h txn=x [in/1 @8]
4 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=commit
`, []string{"v/0 life 1, transaction of x, epoch 0: it holds output of in/1@7 and no offset"}},
	{"an offset of which nobody knows what became", `
1 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=x [out/0 @0 {@0 from=in/0@0}]
2 1s v/0 life 1 request TxnOffsetCommit 1 producer=1 epoch=0 group=g txn=x [in/0 @1]
3 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=commit
`, nil},
	{"an offset that never reached a broker", `
1 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=x [out/0 @0 {@0 from=in/0@0}]
2 1s v/0 life 1 request TxnOffsetCommit 1 not-done producer=1 epoch=0 group=g txn=x [in/0 @1]
3 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=commit
`, []string{"it holds output of in/0@0 and no offset of that partition"}},
	{"the last offset of a transaction counts", `
1 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=x [out/0 @0 {@0 from=in/0@4}]
2 1s v/0 life 1 reply TxnOffsetCommit 1 done producer=1 epoch=0 group=g txn=x [in/0 @4]
3 1s v/0 life 1 reply TxnOffsetCommit 2 done producer=1 epoch=0 group=g txn=x [in/0 @5]
4 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=commit
`, nil},
	{"going back, to the same, and behind a commit outside", `
1 1s v/0 life 1 reply TxnOffsetCommit 1 done producer=1 epoch=0 group=g txn=x [in/0 @5]
2 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=commit
3 1s v/0 life 1 reply TxnOffsetCommit 2 done producer=1 epoch=1 group=g txn=x [in/0 @5]
4 1s v/0 life 1 reply EndTxn 2 done producer=1 epoch=1 txn=x note=commit
5 1s v/1 life 1 reply TxnOffsetCommit 1 done producer=2 epoch=0 group=g txn=y [in/0 @4]
6 1s v/1 life 1 reply EndTxn 1 done producer=2 epoch=0 txn=y note=commit
7 1s v/1 life 1 reply OffsetCommit 1 done group=g [in/0 @9]
8 1s v/1 life 1 reply TxnOffsetCommit 2 done producer=2 epoch=0 group=g txn=y [in/0 @8]
9 1s v/1 life 1 reply EndTxn 2 done producer=2 epoch=0 txn=y note=commit
`, []string{
		"v/1 life 1, transaction of y, epoch 0: it commits in/0@4 after 5 had been committed",
		"it commits in/0@8 after 9 had been committed",
	}},
	{"past the end that was known by then, and by the audit", `
1 1s v/0 life 1 reply Fetch 1 done [in/0 end=3]
2 1s v/0 life 1 request TxnOffsetCommit 1 producer=1 epoch=0 group=g txn=x [in/0 @4] [in/1 @2]
3 1s v/0 life 1 reply Fetch 2 done [in/0 end=9]
4 1s v/0 life 1 reply TxnOffsetCommit 1 done of=2 producer=1 epoch=0 group=g txn=x [in/0 @4] [in/1 @2]
5 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=commit
6 9s - observe log [in/1 @0 end=1 {@0 class=bad}]
`, []string{
		"it commits in/0@4, past the end that was known, 3",
		"it commits in/1@2, past the end that was known, 1",
	}},
	{"the end was told by a Produce, by ListOffsets, by records", `
1 1s w/0 life 1 reply Produce 1 unknown [in/0 @0 {@0 id=a} {@1 id=b}]
2 1s v/0 life 1 reply ListOffsets 1 done [in/1 @2]
3 1s v/0 life 1 reply Fetch 1 done [in/2 {@1 id=c}]
4 1s v/0 life 1 reply TxnOffsetCommit 1 done producer=1 epoch=0 group=g txn=x [in/0 @2] [in/1 @2] [in/2 @2]
5 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=commit
`, nil},
	{"rejects may be passed, accepted records only if there is output", `
1 1s v/0 life 1 reply TxnOffsetCommit 1 done producer=1 epoch=0 group=g txn=x [in/0 @1]
2 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=commit
3 1s v/0 life 1 reply TxnOffsetCommit 2 done producer=1 epoch=1 group=g txn=x [in/0 @7]
4 1s v/0 life 1 reply EndTxn 2 done producer=1 epoch=1 txn=x note=commit
5 9s - observe log [in/0 @0 end=8 {@0 id=a} {@1 class=bad} {@2 aborted id=b} {@3 abort} {@4 id=c} {@5 id=d} {@6 id=e} {@7 id=f}]
6 9s - observe log [out/0 @0 end=1 {@0 id=c from=in/0@4}]
`, []string{"it commits in/0@7, past in/0@5 (id d), of which there is no output"}},
}

var arithmeticTransactionEdges = []edge{
	{"aborted, refused and unanswered transactions are not judged", `
1 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=x [out/0 @0 {@0 from=in/0@0}]
2 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=abort
3 1s v/0 life 1 reply Produce 2 done producer=1 epoch=1 txn=x [out/0 @2 {@2 from=in/0@0}]
4 1s v/0 life 1 reply EndTxn 2 not-done err=PRODUCER_FENCED producer=1 epoch=1 txn=x note=commit
5 1s v/1 life 1 reply Produce 1 done producer=2 epoch=1 txn=y [out/0 @3 {@3 from=in/0@0}]
6 1s v/1 life 1 request EndTxn 1 producer=2 epoch=1 txn=y note=commit
`, nil},
	{"an abort ends it under the same epoch, whatever was answered", `
1 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=x [out/0 @0 {@0 from=in/0@9}]
2 1s v/0 life 1 request EndTxn 1 producer=1 epoch=0 txn=x note=abort
3 1s v/0 life 1 reply Produce 2 done producer=1 epoch=0 txn=x [out/0 @2 {@2 from=in/0@0}]
4 1s v/0 life 1 reply TxnOffsetCommit 1 done producer=1 epoch=0 group=g txn=x [in/0 @1]
5 1s v/0 life 1 reply EndTxn 2 done producer=1 epoch=0 txn=x note=commit
`, nil},
	{"a new epoch aborts what was open", `
1 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=x [out/0 @0 {@0 from=in/0@9}]
2 1s v/0 life 1 reply InitProducerID 2 done producer=1 epoch=1 txn=x
3 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=commit
`, nil},
	{"the answer was lost, asked for again, and late", `
1 1s v/0 life 1 request Produce 1 producer=1 epoch=0 txn=x [out/0 seq=0 {from=in/0@2}]
2 1s v/0 life 1 reply Produce 1 unknown of=1 producer=1 epoch=0 txn=x [out/0 @0 {@0 from=in/0@2}]
3 1s v/0 life 1 request TxnOffsetCommit 1 producer=1 epoch=0 group=g txn=x [in/0 @2]
4 1s v/0 life 1 reply TxnOffsetCommit 1 unknown of=3 producer=1 epoch=0 group=g txn=x [in/0 @2]
5 1s v/0 life 1 request EndTxn 1 producer=1 epoch=0 txn=x note=commit
6 1s v/0 life 1 request EndTxn 2 producer=1 epoch=0 txn=x note=commit
7 1s v/0 life 1 reply EndTxn 2 done of=6 producer=1 epoch=0 txn=x note=commit
8 8s v/0 life 1 reply EndTxn 1 unknown of=5 producer=1 epoch=0 txn=x note=commit
`, []string{"it commits in/0@2 as next, and holds output of in/0@2"}},
	{"lives, ids and refused output stand alone", `
1 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=x [out/0 @0 {@0 from=in/0@0}]
2 1s v/0 life 2 reply TxnOffsetCommit 1 done producer=1 epoch=0 group=g txn=x [in/0 @0]
3 1s v/0 life 2 reply Produce 1 not-done producer=1 epoch=0 txn=x [out/0 err=NOT_ENOUGH_REPLICAS {from=in/0@1}]
4 1s v/0 life 2 reply EndTxn 1 done producer=1 epoch=0 txn=x note=commit
5 1s v/0 life 2 reply Produce 2 done [out/0 @1 {@1 from=in/0@0}]
`, nil},
}

func TestOffsetsOnlyInTransactionsEdges(t *testing.T) {
	checkEdges(t, props.OffsetsOnlyInTransactions("g"), []edge{
		{"a lost answer is a commit all the same", `
1 1s v/0 life 1 request OffsetCommit 1 group=g [in/0 @1]
2 1s v/0 life 1 reply OffsetCommit 1 unknown of=1 group=g [in/0 @1] [in/1 @1 err=ILLEGAL_GENERATION]
`, []string{"v/0 life 1 committed in/0@1 without a transaction"}},
		{"never sent, never answered, refused, and of another group", `
1 1s v/0 life 1 request OffsetCommit 1 not-done group=g [in/0 @1]
2 1s v/0 life 1 request OffsetCommit 2 group=g [in/0 @1]
3 1s v/0 life 1 reply OffsetCommit 3 not-done err=NOT_COORDINATOR group=g [in/0 @1]
4 1s v/0 life 1 reply OffsetCommit 4 done group=h [in/0 @1]
`, nil},
	})
}

func TestFencedStopsEdges(t *testing.T) {
	checkEdges(t, props.FencedStops(), []edge{
		{"told by a partition, by the group, and by InitProducerID itself", `
1 1s v/0 life 1 reply TxnOffsetCommit 1 not-done producer=1 epoch=0 group=g txn=x [in/0 @1 err=INVALID_PRODUCER_EPOCH]
2 1s v/0 life 1 request InitProducerID 2 not-done txn=y
3 1s v/1 life 1 reply JoinGroup 1 not-done err=FENCED_INSTANCE_ID group=g
4 1s v/1 life 1 request InitProducerID 1 txn=x
5 1s v/2 life 1 reply InitProducerID 1 not-done err=PRODUCER_FENCED txn=x
6 1s v/2 life 1 request InitProducerID 2 txn=x
`, []string{
			"v/0 life 1 asked for a producer id of y after TxnOffsetCommit had been answered INVALID",
			"v/1 life 1 asked for a producer id of x after JoinGroup had been answered FENCED_INST",
			"v/2 life 1 asked for a producer id of x after InitProducerID had been answered PROD",
		}},
		{"what it never heard, and an idempotent producer", `
1 1s v/0 life 1 reply EndTxn 1 unknown err=PRODUCER_FENCED producer=1 epoch=0 txn=x note=commit
2 1s v/0 life 1 request InitProducerID 2 txn=x
3 1s p/0 life 1 reply Produce 1 not-done producer=2 epoch=0 [t/0 err=INVALID_PRODUCER_EPOCH]
4 1s p/0 life 1 request InitProducerID 2 txn=x
5 1s v/1 life 1 reply EndTxn 1 not-done err=CONCURRENT_TRANSACTIONS producer=1 epoch=0 txn=x
6 1s v/1 life 1 request InitProducerID 2 txn=x
7 1s v/2 life 1 reply EndTxn 1 not-done err=PRODUCER_FENCED producer=1 epoch=0 txn=x
8 1s v/2 life 1 request InitProducerID 2
`, nil},
	})
}

func TestOneOwnerEdges(t *testing.T) {
	checkEdges(t, props.OneOwner(), []edge{
		{"an older epoch of the same life", `
1 1s v/0 life 1 reply InitProducerID 1 done producer=1 epoch=3 txn=x
2 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=2 txn=x note=commit
3 1s v/0 life 1 reply EndTxn 2 done producer=2 epoch=4 txn=x note=commit
`, []string{"as producer 1 epoch 2 after v/0 life 1 had been given producer 1 epoch 3",
			"as producer 2 epoch 4"}},
		{"epochs that grow by themselves, an epoch that was given late, and began anew", `
1 1s v/0 life 1 request InitProducerID 1 txn=x
2 1s v/1 life 1 request InitProducerID 1 txn=x
3 1s v/1 life 1 reply InitProducerID 1 done of=2 producer=1 epoch=1 txn=x
4 2s v/0 life 1 reply InitProducerID 1 unknown of=1 producer=1 epoch=0 txn=x
5 3s v/1 life 1 reply EndTxn 1 done producer=1 epoch=1 txn=x note=commit
6 3s v/1 life 1 reply EndTxn 2 done producer=1 epoch=2 txn=x note=commit
7 4s v/0 life 2 reply InitProducerID 1 done producer=2 epoch=0 txn=x
8 4s v/0 life 2 reply EndTxn 1 done producer=2 epoch=0 txn=x note=commit
`, nil},
		{"aborts, refusals, other ids and ids that nobody was given", `
1 1s v/0 life 1 reply InitProducerID 1 done producer=1 epoch=3 txn=x
2 1s v/1 life 1 reply EndTxn 1 done producer=1 epoch=2 txn=x note=abort
3 1s v/1 life 1 reply EndTxn 2 not-done err=PRODUCER_FENCED producer=1 epoch=2 txn=x note=commit
4 1s v/1 life 1 reply InitProducerID 1 not-done err=CONCURRENT_TRANSACTIONS txn=x
5 1s v/1 life 1 reply EndTxn 3 done producer=7 epoch=0 txn=y note=commit
6 1s v/1 life 1 reply InitProducerID 2 done producer=9 epoch=0
7 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=3 txn=x note=commit
`, nil},
	})
}

func TestLSOProgressEdges(t *testing.T) {
	checkEdges(t, props.LSOProgress("out", 10*time.Second), []edge{
		{"exactly the bound, and open for less at the audit", `
1 1s r/0 life 1 reply Fetch 1 done [out/0 end=2 stable=0]
2 11s r/0 life 1 reply Fetch 2 done [out/0 end=2 stable=0]
3 12s r/0 life 1 reply Fetch 3 done [out/0 end=4 stable=3]
4 13s - observe log [out/0 @0 end=4 stable=3]
`, nil},
		{"an answer that was long on its way says nothing of now", `
1 1s r/0 life 1 reply Fetch 1 done [out/0 end=2 stable=0]
2 2s r/0 life 1 request Fetch 2 [out/0 @0]
3 50s r/0 life 1 reply Fetch 2 unknown of=2 [out/0 end=2 stable=0]
`, nil},
		{"nobody fetched, and the audit finds what was written long ago", `
1 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 txn=x [out/0 @5 {@5 id=a}]
2 20s - observe log [out/0 @0 end=6 stable=5]
`, []string{"the last stable offset of out/0 stood at 5 for 19s, below the end at 6"}},
		{"twice, while the end grows", `
1 1s r/0 life 1 reply Fetch 1 done [out/0 end=2 stable=0] [out/1 end=4 stable=1]
2 12s r/0 life 1 reply Fetch 2 done [out/0 end=9 stable=0] [out/1 end=4 stable=1]
`, []string{"out/0 stood at 0 for 11s, below the end at 9", "out/1 stood at 1 for 11s"}},
		{"all that there is, for long", `
1 1s r/0 life 1 reply Fetch 1 done [out/0 end=2 stable=2]
2 40s - observe log [out/0 @0 end=2 stable=2]
`, nil},
		{"not said, refused, of another topic, and plain", `
1 1s r/0 life 1 reply Fetch 1 done [out/0 end=2] [u/0 end=2 stable=0]
2 1s r/0 life 1 reply Fetch 2 not-done [out/0 end=2 stable=0 err=NOT_LEADER_FOR_PARTITION]
3 1s v/0 life 1 reply Produce 1 done producer=1 epoch=0 [out/0 @0 {@0 id=a}]
4 30s - observe log [out/0 @0 end=2 stable=0] [u/0 @0 end=2 stable=0]
`, nil},
	})
}

func TestNoExternalCallEdges(t *testing.T) {
	checkEdges(t, props.NoExternalCallInTransaction(), []edge{
		{"told once a transaction, from whichever request opened it", `
1 1s v/0 life 1 request AddPartitionsToTxn 1 producer=1 epoch=0 txn=x [out/0]
2 1s v/0 life 1 call put 1 key=a
3 1s v/0 life 1 request Produce 1 producer=1 epoch=0 txn=x [out/0 seq=0]
4 1s v/0 life 1 call put 2 key=b
5 1s v/0 life 1 reply EndTxn 1 unknown producer=1 epoch=0 txn=x note=abort
6 1s v/0 life 1 request TxnOffsetCommit 1 producer=1 epoch=1 group=g txn=x [in/0 @1]
7 1s v/0 life 1 call get 1 key=c
`, []string{`v/0 life 1 called put of "a" in a transaction of x`, `called get of "c"`}},
		{"other lives, no transaction, and one that a new epoch ended", `
1 1s v/0 life 1 request Produce 1 producer=1 epoch=0 txn=x [out/0 seq=0]
2 1s v/0 life 2 call put 1 key=a
3 1s v/0 life 1 reply InitProducerID 2 done producer=1 epoch=1 txn=x
4 1s v/0 life 1 call put 1 key=a
5 1s v/0 life 1 request Produce 2 producer=2 epoch=0 [out/0 seq=0]
6 1s v/0 life 1 call put 2 key=a
`, nil},
	})
}

func TestEpochsBoundedEdges(t *testing.T) {
	checkEdges(t, props.EpochsBounded(2, 10*time.Second), []edge{
		{"a window that is not full, at its edge", `
1 1s v/0 life 1 reply InitProducerID 1 done producer=1 epoch=0 txn=x
2 2s v/0 life 1 reply InitProducerID 2 done producer=1 epoch=1 txn=x
3 11s v/0 life 1 reply InitProducerID 3 done producer=1 epoch=2 txn=x
`, nil},
		{"answers that were lost count, when they were asked for, and once an id", `
1 1s v/0 life 1 request InitProducerID 1 txn=x
2 2s v/0 life 1 request InitProducerID 2 txn=x
3 10s v/0 life 1 request InitProducerID 3 txn=x
4 30s v/0 life 1 reply InitProducerID 1 unknown of=1 producer=1 epoch=0 txn=x
5 31s v/0 life 1 reply InitProducerID 2 unknown of=2 producer=1 epoch=1 txn=x
6 32s v/0 life 1 reply InitProducerID 3 done of=3 producer=1 epoch=2 txn=x
7 33s v/0 life 1 reply InitProducerID 4 done producer=1 epoch=3 txn=x
`, []string{"x was given 3 epochs within 9s, from epoch 0 of v/0 life 1 to epoch 2 of v/0"}},
		{"ids, refusals and plain producers", `
1 1s v/0 life 1 reply InitProducerID 1 done producer=1 epoch=0 txn=x
2 1s v/0 life 1 reply InitProducerID 2 done producer=2 epoch=0 txn=y
3 1s v/0 life 1 reply InitProducerID 3 not-done err=PRODUCER_FENCED txn=x
4 1s v/0 life 1 reply InitProducerID 4 done producer=1 epoch=1 txn=x
5 1s v/0 life 1 reply InitProducerID 5 done producer=3 epoch=0
`, nil},
	})
}
