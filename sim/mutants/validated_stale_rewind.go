package mutants

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	register(Mutant{
		Name: "stale-rewind", Case: "A10",
		Says: "a commit that was not answered in time counts as failed: the program aborts " +
			"and goes on where the client believes that the group stands",
		World: withProcess(validatedOne(), "validated", copying{ended: endInTime}.run),
		Breaks: props.ExactlyOnce(
			worlds.Progress, worlds.ValidatedTopic, worlds.ValidatedGroup).Name,
	})
}

// endInTime aborts what may be committed. The session then sets its position back to
// the offsets that it knows to be committed, which a commit with a lost answer is not
// among. The reports are twmb/franz-go#1207 and #1052.
func endInTime(ctx context.Context, c *copier) (bool, error) {
	committed, err := endSoon(ctx, c)
	if err == nil {
		return committed, nil
	}
	c.Alert("commit-failed", err.Error())
	if _, err := c.End(ctx, kgo.TryAbort); err != nil {
		return false, err
	}
	return true, nil // the mistake: on to the next poll, where only the group knows
}

// endSoon waits a little for a commit, as one does who wants to be able to stop.
func endSoon(ctx context.Context, c *copier) (bool, error) {
	const patience = 5 * time.Second // virtual
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.End(ctx, kgo.TryCommit)
}
