package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/props"
	"github.com/hopcheck/hopcheck/sim"
	"github.com/hopcheck/hopcheck/sim/worlds"
)

func init() {
	w := landingOne()
	w.Describe = describeLog
	register(Mutant{
		Name: "date-stamped", Case: "S3",
		Says:   "each batch is appended to an object named by the time of day",
		World:  with(w, dateStamped),
		Breaks: props.OneObjectPerOffset(worlds.Progress).Name,
	})
}

// dateStamped has one object a minute and partition, and appends to it under a
// condition, so that nothing in it is ever overwritten.
func dateStamped(ctx context.Context, env sim.Env) error {
	return consume(ctx, env, func(ctx context.Context, c *consumer, batch []*kgo.Record) error {
		if err := c.bury(ctx, batch...); err != nil {
			return err
		}
		// house: virtual clock because this runs in a bubble, where time.Now is the world's.
		now := time.Now().UTC()
		// The mistake: the name says when, and not what.
		key := fmt.Sprintf("%s/%d/%s",
			worlds.Progress, batch[0].Partition, now.Format("2006-01-02T15:04"))
		body := hops.AppendBody(nil, linesOf(batch)...)
		if err := appendTo(ctx, c, key, body); err != nil {
			return err
		}
		return c.commit(ctx, batch)
	})
}

// appendTo appends to an object by reading it and storing it anew.
func appendTo(ctx context.Context, c *consumer, key string, body []byte) error {
	for {
		before, etag, err := c.Objects.Get(ctx, key)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		ok, _, err := c.Objects.PutIf(ctx, key, append(before, body...), etag)
		if ok || err != nil {
			return err
		}
	}
}

// describeLog says which offsets an object holds whose lines need not follow each
// other.
func describeLog(key string, body []byte) ([]model.Part, []model.Count) {
	var all []model.Part
	for line := range bytes.Lines(body) {
		parts, _ := worlds.Describe(key, line)
		for _, part := range parts {
			if len(all) == 0 {
				all = append(all, part)
				continue
			}
			all[0].Records = append(all[0].Records, part.Records...)
		}
	}
	return all, nil
}
