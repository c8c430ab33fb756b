package mutants

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "slow-call-in-transaction", Case: "S17",
		Says: "a service is asked about each record within the transaction: when a backlog " +
			"comes, the transaction times out, and so does every one after it",
		World:  withProcess(validatedOne(), "validated", copying{inside: askInside}.run),
		Breaks: props.Drains(worlds.Progress, worlds.ValidatedGroup).Name,
	})
}

// askInside looks something up for each record. Two or three records take no time at
// all; what has gathered while they were asked about takes longer than the
// transaction may, and the next try has more of them.
func askInside(ctx context.Context, c *copier, records []*kgo.Record) error {
	const each = 1500 * time.Millisecond // that the service takes, virtual
	for _, r := range records {
		_, _, err := c.Objects.Get(ctx, "learners/"+string(r.Key)) // the mistake
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		pause(ctx, each)
	}
	return nil
}
