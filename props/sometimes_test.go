package props_test

import (
	"testing"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
)

// sometimes is a thing with a history that shows it and one that does not.
type sometimes struct {
	props.Sometimes
	seen, not string
}

func checkSometimes(t *testing.T, all []sometimes) {
	t.Helper()
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			if !c.Seen(parse(t, c.seen)) {
				t.Error("not seen where it is")
			}
			if c.Seen(parse(t, c.not)) || c.Seen(new(model.History)) {
				t.Error("seen where it is not")
			}
		})
	}
}

func TestSometimes(t *testing.T) {
	checkSometimes(t, []sometimes{
		{
			props.SometimesResend("t"),
			"1 9s - observe log [t/0 @0 end=2 {@0 id=a} {@1 id=a}]\n",
			"1 9s - observe log [t/0 @0 end=2 {@0 id=a} {@1 aborted id=a} {@2 abort}]\n",
		},
		{
			props.SometimesRebalance("g"),
			`
1 1s l/0 life 1 reply JoinGroup 1 done group=g member=m1 gen=1
2 2s l/1 life 1 reply JoinGroup 1 done group=g member=m2 gen=2
`,
			`
1 1s l/0 life 1 reply ConsumerGroupHeartbeat 1 done group=g member=m1 gen=3
2 1s l/0 life 1 reply ConsumerGroupHeartbeat 2 done group=g member=m1 gen=3
3 2s l/1 life 1 reply JoinGroup 1 done group=h member=m2 gen=4
4 2s l/1 life 1 reply ConsumerGroupHeartbeat 1 not-done err=UNKNOWN_MEMBER_ID group=g gen=5
`,
		},
		{props.SometimesCrash(), "1 1s l/0 life 1 crash\n", "1 1s l/0 life 1 exit - done\n"},
		{props.SometimesPaused(), "1 1s l/0 life 1 pause\n", "1 1s l/0 life 1 resume\n"},
		{
			props.SometimesLostReply(),
			"1 1s l/0 life 1 return put 1 unknown key=k\n",
			`
1 1s l/0 life 1 return put 1 unknown err=timeout key=k
2 1s l/0 life 1 note ack unknown [t/0 {id=a}]
`,
		},
		{
			props.SometimesRejected("d"),
			"1 1s l/0 life 1 reply Produce 1 unknown [d/0 @0 {@0 id=x from=t/0@0}]\n",
			`
1 1s l/0 life 1 reply Produce 1 not-done [d/0 err=NOT_ENOUGH_REPLICAS {id=x from=t/0@0}]
2 9s - observe log [d/0 @0 end=0]
`,
		},
		{
			props.SometimesRejected("d"),
			"1 9s - observe log [d/0 @0 end=1 {@0 id=x}]\n",
			"1 9s - observe log [t/0 @0 end=1 {@0 id=x}]\n",
		},
	})
}
