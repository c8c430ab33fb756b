package main

import (
	"context"
	"errors"
	"strings"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim"
)

// confirmations is how often a shrunk schedule is replayed, each time in a fresh
// process, to say how well it repeats.
const confirmations = 5

// confirm replays the failures of subjects in fresh processes, as a user would, and
// makes what comes of it the recorded run. A failure that does not come again keeps
// the run that found it.
func confirm(ctx context.Context, f *fleet, subjects []*subject) error {
	var found []*subject
	for _, s := range subjects {
		if s.failure != nil {
			found = append(found, s)
		}
	}
	replays := make([][confirmations]*replay, len(found))
	var failed error
	i := 0
	f.run(func() *task {
		if i == len(found)*confirmations || failed != nil || ctx.Err() != nil {
			return nil
		}
		s, slot := found[i/confirmations], &replays[i/confirmations][i%confirmations]
		i++
		plain := s.failure.Schedule
		plain.Digest = ""
		return &task{
			ctx: ctx, job: job{scene: s.scene, Schedule: plain.String()},
			done: func(m message, err error) {
				if err != nil && !errors.Is(err, context.Canceled) && failed == nil {
					failed = notRun("%w", err)
				}
				*slot = m.Replay
			},
		}
	})
	for k, s := range found {
		if err := s.record(replays[k][:]); err != nil {
			return err
		}
	}
	return failed
}

// record makes the first replay that broke the promise the run of the failure.
func (s *subject) record(replays []*replay) error {
	type seen struct {
		history *model.History
		digest  string
		broke   bool
	}
	var all []seen
	for _, r := range replays {
		if r == nil {
			continue // interrupted
		}
		h, err := model.Read(strings.NewReader(r.History))
		if err != nil {
			return notRun("reading a worker's history: %w", err)
		}
		again := sim.Failure{Promise: s.failure.Promise}
		judgeInto(&again, s.world, h)
		all = append(all, seen{h, h.Digest(), len(again.Broken) > 0})
	}
	if len(all) == 0 {
		return nil
	}
	f := s.failure
	f.Replays, f.Agreed, f.Same = len(all), 0, 0
	digest := ""
	for _, r := range all {
		if !r.broke {
			continue
		}
		if f.Agreed++; digest == "" {
			digest = r.digest
			judgeInto(f, s.world, r.history)
			f.Schedule.Digest = digest
		}
	}
	if digest == "" {
		digest = f.Schedule.Digest
	}
	for _, r := range all {
		if r.digest == digest {
			f.Same++
		}
	}
	return nil
}
