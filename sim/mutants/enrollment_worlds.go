package mutants

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

// enrollmentPoller is the world of one poller: whatever goes wrong, it is not because
// there are two.
func enrollmentPoller() sim.World {
	return worlds.Enrollment("enrollment", worlds.EnrollmentSetup{Publishers: 1})
}

// enrollmentPollers is the world of two pollers of one outbox.
func enrollmentPollers() sim.World {
	return worlds.Enrollment("enrollment-pollers", worlds.EnrollmentSetup{Publishers: 2})
}

// enrollmentLog is the world of one publisher of the log.
func enrollmentLog() sim.World {
	return worlds.Enrollment("enrollment-log", worlds.EnrollmentSetup{Publishers: 1, Log: true})
}

// enrollmentDown is the world of a publisher that stays away for a day.
func enrollmentDown() sim.World {
	return worlds.Enrollment("enrollment-down", worlds.EnrollmentSetup{
		Publishers: 1, Log: true, Away: 24 * time.Hour,
	})
}

// enrolledOnce returns w with changes of which no two are about one enrollment, none
// drops it, and none is made twice: a count of the changes is then right, as long as none
// is published twice.
func enrolledOnce(w sim.World) sim.World {
	asks := w.Asks
	w.Asks = func(rng *rand.Rand) []sim.Ask {
		list := asks(rng)
		for i := range list {
			list[i].Key = fmt.Appendf(nil, "learner-%02d/go-10%d", i, i%2)
			list[i].Value = []byte(hops.OpEnrolled)
		}
		return list
	}
	return withProcess(w, "registrar", registerOnce)
}

// registerOnce answers before it makes a change, so that nobody asks for it again. What
// becomes of the change is the database's to say.
func registerOnce(ctx context.Context, env sim.Env) error {
	registrar, err := hops.NewRegistrar(hops.RegistrarConfig{Store: env.Database})
	if err != nil {
		return err
	}
	for {
		ask, ok := env.Inbox.Next(ctx)
		if !ok {
			return nil
		}
		env.Inbox.Answer(ask, model.Done)
		learner, course, _ := strings.Cut(string(ask.Key), "/")
		_ = registrar.Enroll(ctx, learner, course, string(ask.Value), false)
	}
}
