package tap

import (
	"context"
	"errors"
	"io/fs"
	"runtime"

	"github.com/hopcheck/hopcheck/model"
)

// ErrLost is what a call returns whose answer was lost on the way. The call may
// have been applied.
var ErrLost = errors.New("tap: connection lost: the outcome is unknown")

// Refused is the error of a store that answered a call with an error.
type Refused struct{ Code string }

// Error returns the store's word.
func (r *Refused) Error() string { return "tap: the store answered " + r.Code }

// Refusal returns the word alone.
func (r *Refused) Refusal() string { return r.Code }

// Call is one call of a process to something outside it: a store, a database, a
// service.
type Call struct {
	// Event says what crosses, in both directions: its Op, its Key, whatever else the
	// history shall say. Its Kind is filled in. An Op that a schedule can name
	// ([schedule.ValidName]) can be killed at, lost, delayed and answered with an
	// error.
	Event model.Event
	// Apply carries the call out and says in the event what came of it. It gets a
	// context that does not end with the caller's: what was sent arrives, though
	// nobody waits for it any more. It may run late, so it must not write to results
	// that the caller reads after an error. An error means that the outcome is
	// unknown, unless its chain has a method Refusal() string that does not return
	// "": then the other side answered, with that word, and did nothing.
	Apply func(context.Context, *model.Event) error
	// Broke is called where the connection breaks under the call: an answer is lost
	// or is an error, and so is everything that lived on that connection, such as a
	// transaction. Apply has returned by then, or is never called. It must not block.
	// Nil is fine.
	Broke func()
}

// deadCalls is how often a dead process's goroutine may call before it is ended:
// a loop that retries for ever must not outlive the run.
const deadCalls = 100

// Call takes one call over the boundary of the life and back. It returns the error
// of Apply, [ErrLost] for an answer that was lost, a [*Refused] for one that the
// schedule says, [ErrDead] for a life that is over, or the context's error where that
// ended first. It is safe for concurrent use.
func (l *Life) Call(ctx context.Context, c Call) error {
	if l.calledDead() > deadCalls {
		runtime.Goexit()
	}
	if !l.Alive() {
		return ErrDead
	}
	call := c.Event
	call.Kind = model.Call
	stream := l.stream()
	result := make(chan error, 2) // the call's verdict and the return's: none may block
	asked := &Crossing{Life: l, Event: call, Stream: stream}
	ret := func(err error) {
		r := call
		r.Kind = model.Return
		r.Outcome, r.Err = outcome(r.Outcome, r.Err, err)
		l.gate.Submit(&Crossing{
			Life: l, Event: r, Stream: stream, Answers: asked,
			gone: func() bool { return ctx.Err() != nil },
			settle: func(v Verdict) {
				c.broken(v)
				result <- returned(v, err)
			},
		})
	}
	asked.settle = func(v Verdict) {
		c.broken(v)
		switch v.Do {
		case Pass:
			go func() { ret(c.Apply(context.WithoutCancel(ctx), &call)) }()
		case Answer:
			ret(&Refused{Code: v.Code})
		default:
			result <- returned(v, nil)
		}
	}
	l.gate.Submit(asked)
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-result:
		return err // an answer that is there counts, whichever came first
	default:
		return ctx.Err()
	}
}

func (c *Call) broken(v Verdict) {
	if v.Do != Pass && c.Broke != nil {
		c.Broke()
	}
}

// returned is what the process sees of a call that came back with err.
func returned(v Verdict, err error) error {
	switch v.Do {
	case Lose:
		return ErrLost
	case Answer:
		return &Refused{Code: v.Code}
	case Drop:
		return ErrDead
	}
	return err
}

// outcome fills a return's outcome unless the call said it itself.
func outcome(said model.Outcome, text string, err error) (model.Outcome, string) {
	switch {
	case err == nil && said != model.NoOutcome:
		return said, text
	case err == nil:
		return model.Done, ""
	case errors.Is(err, fs.ErrNotExist):
		return model.Done, "not-found"
	}
	var refused interface{ Refusal() string }
	if errors.As(err, &refused) && refused.Refusal() != "" {
		return model.NotDone, refused.Refusal()
	}
	return model.Unknown, err.Error()
}
