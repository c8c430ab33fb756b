package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/props"
)

func TestSometimesTransactions(t *testing.T) {
	checkSometimes(t, []sometimes{
		{
			props.SometimesAborted("t"),
			"1 9s - observe log [t/0 @0 end=2 {@0 aborted id=a} {@1 abort}]\n",
			"1 9s - observe log [t/0 @0 end=2 {@0 id=a} {@1 abort}]\n",
		},
		{
			props.SometimesFenced(),
			`
1 1s v/0 life 1 request EndTxn 1 producer=1 epoch=0 txn=x note=commit
2 1s v/0 life 1 reply EndTxn 1 not-done of=1 err=PRODUCER_FENCED producer=1 epoch=0 txn=x
`,
			`
1 1s v/0 life 1 request EndTxn 1 not-done producer=1 epoch=0 txn=x note=commit
2 1s v/0 life 1 reply EndTxn 1 not-done of=1 err=PRODUCER_FENCED producer=1 epoch=0 txn=x
3 1s v/0 life 1 reply EndTxn 2 unknown err=PRODUCER_FENCED producer=1 epoch=0 txn=x
4 1s p/0 life 1 reply Produce 1 not-done producer=1 epoch=0 [t/0 err=INVALID_PRODUCER_EPOCH]
`,
		},
		{
			props.SometimesStaleGeneration(),
			"1 1s v/0 life 1 reply TxnOffsetCommit 1 unknown group=g txn=x " +
				"[t/0 @1 err=STALE_MEMBER_EPOCH]\n",
			`
1 1s v/0 life 1 request OffsetCommit 1 not-done group=g [t/0 @1]
2 1s v/0 life 1 reply OffsetCommit 1 not-done of=1 group=g [t/0 @1 err=ILLEGAL_GENERATION]
3 1s v/0 life 1 reply Heartbeat 1 not-done err=ILLEGAL_GENERATION group=g
4 1s v/0 life 1 reply TxnOffsetCommit 1 not-done group=g txn=x [t/0 @1 err=PRODUCER_FENCED]
`,
		},
		{
			props.SometimesRebalanceInTransaction("g"),
			`
1 1s v/0 life 1 request Produce 1 producer=1 epoch=0 txn=x [t/0 seq=0]
2 1s v/0 life 1 reply ConsumerGroupHeartbeat 1 done group=g member=m1 gen=2 [t/0] note=assignment
`,
			`
1 1s v/0 life 1 request JoinGroup 1 group=g
2 1s v/0 life 1 request Produce 1 producer=1 epoch=0 txn=x [t/0 seq=0]
3 1s v/0 life 1 reply ConsumerGroupHeartbeat 1 done group=g member=m1 gen=2
4 1s v/0 life 1 reply JoinGroup 1 done group=h
5 1s v/1 life 1 reply JoinGroup 1 done group=g
6 1s v/0 life 1 reply EndTxn 1 done producer=1 epoch=0 txn=x note=abort
7 1s v/0 life 1 request JoinGroup 2 group=g
`,
		},
		{
			props.SometimesLostEnd(),
			"1 1s v/0 life 1 reply EndTxn 1 unknown producer=1 epoch=0 txn=x note=commit\n",
			`
1 1s v/0 life 1 reply EndTxn 1 unknown err=INVALID_TXN_STATE producer=1 epoch=0 txn=x
2 1s v/0 life 1 reply EndTxn 2 done producer=1 epoch=0 txn=x note=commit
`,
		},
	})
}
