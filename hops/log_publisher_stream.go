package hops

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// changeStream is what a publisher has in hand of one stream.
type changeStream struct {
	// What was sent, in the order of the stream. The first has no answer yet.
	queue   []*passing
	flying  map[string]bool    // the keys of those without an answer
	answers chan passingAnswer // with room for all: an append never waits for us
	reached string             // all up to here is published
	told    string             // what of that was confirmed
	toldAt  time.Time
}

// passing is a change that was sent.
type passing struct {
	lsn, key string
	since    time.Time
	acked    bool
}

type passingAnswer struct {
	of  *passing
	err error
}

// stream publishes what the log sends until something fails or ctx ends. What is in
// flight then is waited for, unless it is the appends that failed.
func (p *LogPublisher) stream(ctx context.Context) error {
	err := p.calls.once(ctx, func(ctx context.Context) error {
		return p.cfg.Log.Stream(ctx, p.acked)
	})
	if err != nil {
		return fmt.Errorf("streaming from %q: %w", p.acked, err)
	}
	p.standby = false
	s := &changeStream{
		flying:  make(map[string]bool),
		answers: make(chan passingAnswer, p.cfg.Window),
	}
	err = p.follow(ctx, s)
	var publish *publishError
	for !errors.As(err, &publish) && len(s.queue) > 0 {
		if failed := p.await(s); failed != nil {
			err = failed
		}
	}
	if errors.As(err, &publish) {
		p.producer.discard()
	}
	if ctx.Err() != nil {
		// Unknown is fine: the next process begins a little earlier.
		_ = p.confirm(ctx, s)
	}
	return err
}

// follow takes the log's changes one after the other.
func (p *LogPublisher) follow(ctx context.Context, s *changeStream) error {
	for {
		if err := p.collect(s); err != nil {
			return err
		}
		if len(s.queue) == 0 || time.Since(s.toldAt) >= p.cfg.ConfirmEvery {
			if err := p.confirm(ctx, s); err != nil {
				return err
			}
		}
		lsn, key, value, err := p.next(ctx)
		if err != nil {
			return err
		}
		if key == "" {
			if err := p.keepalive(s, lsn); err != nil {
				return err
			}
			continue
		}
		for len(s.queue) >= p.cfg.Window || s.flying[key] {
			if err := p.await(s); err != nil {
				return err
			}
		}
		p.send(s, &passing{lsn: lsn, key: key, since: time.Now()}, value)
	}
}

func (p *LogPublisher) next(ctx context.Context) (lsn, key string, value []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Silence)
	defer cancel()
	lsn, key, value, err = p.cfg.Log.Next(ctx)
	if err != nil {
		err = fmt.Errorf("waiting for a change after %q: %w", p.acked, err)
	}
	return lsn, key, value, err
}

// keepalive takes a position of the server at which there is no change. With
// nothing in flight, all up to it is published.
func (p *LogPublisher) keepalive(s *changeStream, lsn string) error {
	err := p.collect(s)
	if err == nil && len(s.queue) == 0 {
		p.reach(s, lsn)
	}
	return err
}

func (p *LogPublisher) send(s *changeStream, c *passing, value []byte) {
	s.queue = append(s.queue, c)
	s.flying[c.key] = true
	p.producer.send(c.key, value, func(err error) { s.answers <- passingAnswer{c, err} })
}

// await waits for one answer, as long as the change that waits longest may.
func (p *LogPublisher) await(s *changeStream) error {
	late := time.NewTimer(time.Until(s.queue[0].since.Add(p.cfg.AckTimeout)))
	defer late.Stop()
	select {
	case answer := <-s.answers:
		return p.take(s, answer)
	case <-late.C:
		return p.late(s)
	}
}

// collect takes the answers that are there.
func (p *LogPublisher) collect(s *changeStream) error {
	for {
		select {
		case answer := <-s.answers:
			if err := p.take(s, answer); err != nil {
				return err
			}
			continue
		default:
		}
		if len(s.queue) > 0 && time.Since(s.queue[0].since) >= p.cfg.AckTimeout {
			return p.late(s)
		}
		return nil
	}
}

func (p *LogPublisher) late(s *changeStream) error {
	return &publishError{fmt.Errorf("change %s of %s: %w: %v",
		s.queue[0].lsn, s.queue[0].key, errNoAck, p.cfg.AckTimeout)}
}

// take notes an answer, and moves on over every change up to the first that has none.
func (p *LogPublisher) take(s *changeStream, answer passingAnswer) error {
	if answer.err != nil {
		return &publishError{fmt.Errorf("change %s of %s: %w",
			answer.of.lsn, answer.of.key, answer.err)}
	}
	answer.of.acked = true
	delete(s.flying, answer.of.key)
	for len(s.queue) > 0 && s.queue[0].acked {
		p.reach(s, s.queue[0].lsn)
		s.queue = s.queue[1:]
	}
	return nil
}

// reach notes that all that the stream sent up to a position is published.
func (p *LogPublisher) reach(s *changeStream, lsn string) {
	s.reached = max(s.reached, lsn)
	p.acked = s.reached
	p.calls.succeeded()
}

// confirm tells the log how far this stream is published, if that is news to it. A
// position of an earlier stream is not confirmed again: another publisher may have
// brought the slot further, and not every server refuses to go back.
func (p *LogPublisher) confirm(ctx context.Context, s *changeStream) error {
	if s.reached <= s.told {
		return nil
	}
	err := p.calls.finish(ctx, func(ctx context.Context) error {
		return p.cfg.Log.Confirm(ctx, s.reached)
	})
	if err != nil {
		return fmt.Errorf("confirming %s: %w", s.reached, err)
	}
	s.told, s.toldAt = s.reached, time.Now()
	return nil
}
