package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hopcheck/hopcheck/cmd/live/proc"
	"github.com/hopcheck/hopcheck/cmd/live/stack"
	"github.com/hopcheck/hopcheck/sim/schedule"
)

var errNoStack = errors.New("the brokers are not of the local stack: none was killed")

// brokerIn bounds the kill or the start of a broker.
const brokerIn = 2 * time.Minute

// fired takes note that a fault strikes, and gives a stop its grace.
func (r *run) fired(l *life, line string) {
	f, err := schedule.ParseFault(line)
	if err != nil {
		return // it is of our own schedule
	}
	a := f.Action()
	r.tell(line)
	r.mu.Lock()
	delete(r.unfired, line)
	if until := time.Now().Add(a.For + settle); until.After(r.standing) {
		r.standing = until
	}
	r.mu.Unlock()
	if a.Do == schedule.Stop {
		go func() {
			select {
			case <-l.gone:
			case <-time.After(grace):
				l.late.Store(true)
				send(l.cmd.Process.Pid, syscall.SIGKILL)
			}
		}()
	}
}

// pause stops a life and goes on with it after d, or when faults end.
func (r *run) pause(l *life, d time.Duration) {
	send(l.cmd.Process.Pid, syscall.SIGSTOP)
	select {
	case <-time.After(d):
	case <-r.healing:
	case <-l.gone:
		return
	}
	send(l.cmd.Process.Pid, syscall.SIGCONT)
	l.wire.Send(proc.Message{Op: proc.SaysDone})
}

// outage kills the broker at the address, the first for none, and starts it after d, or
// when faults end. Brokers that are not of the local stack are left alone.
func (r *run) outage(l *life, peer string, d time.Duration) {
	defer l.wire.Send(proc.Message{Op: proc.SaysDone})
	if r.stack == nil {
		r.complain(errNoStack)
		return
	}
	st, err := r.stack.State()
	if err != nil {
		r.complain(err)
		return
	}
	id := int32(1)
	for _, srv := range st.Servers {
		if srv.Kind == stack.Kafka && srv.Address == peer {
			id = srv.ID
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), brokerIn)
	defer cancel()
	if err := r.stack.KillBroker(ctx, id); err != nil {
		r.complain(err)
		return
	}
	r.outages.Go(func() {
		select {
		case <-time.After(d):
		case <-r.healing:
		}
		ctx, cancel := context.WithTimeout(context.Background(), brokerIn)
		defer cancel()
		if err := r.stack.StartBroker(ctx, id); err != nil {
			r.complain(err)
			return
		}
		if err := stack.InSync(ctx, r.client, r.topics()...); err != nil {
			r.complain(err)
		}
	})
}

func (r *run) topics() []string {
	var names []string
	for _, t := range r.World.Topics {
		names = append(names, r.names.Of(t.Name))
	}
	return names
}

// complain says that a fault could not be carried out as it should; the run goes on.
func (r *run) complain(err error) { fmt.Fprintln(os.Stderr, "live:", err) }

// heal ends all faults.
func (r *run) heal() {
	r.healed.Do(func() {
		r.mu.Lock()
		close(r.healing)
		r.mu.Unlock()
		for _, l := range r.running() {
			l.wire.Send(proc.Message{Op: proc.SaysHeal})
		}
	})
}
