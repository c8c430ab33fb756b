package hops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// RegistrarConfig says where a [Registrar] writes. Store is required.
type RegistrarConfig struct {
	// Store is the database.
	Store EnrollmentStore
	// CallTimeout bounds each call of the store, also the wait for a row that
	// another transaction has locked. Default 10 s.
	CallTimeout time.Duration
}

// Registrar is the application: it enrolls learners in courses. Each change is one
// transaction that writes the enrollment's row and its outbox row, so the one is
// never there without the other. It is safe for concurrent use.
type Registrar struct {
	store EnrollmentStore
	calls patience
}

// NewRegistrar returns a registrar. It fails when the configuration cannot work.
func NewRegistrar(cfg RegistrarConfig) (*Registrar, error) {
	if cfg.Store == nil {
		return nil, errors.New("registrar: Store is required")
	}
	calls, ok := patient(0, 0, 0, cfg.CallTimeout)
	if !ok {
		return nil, errors.New("registrar: CallTimeout must not be negative")
	}
	return &Registrar{store: cfg.Store, calls: calls}, nil
}

// ChangeError says that a change is not known to be committed. With Outcome NotDone
// it is not and never will be. With Unknown it may be: making it again is safe,
// since the row then has the same op, and the change has one more LSN.
type ChangeError struct {
	LearnerID, CourseID, Op string
	Outcome                 Outcome
	Err                     error
}

// Error names the change and its outcome, and says what failed.
func (e *ChangeError) Error() string {
	return fmt.Sprintf("change of %s/%s to %s is %s: %v",
		e.LearnerID, e.CourseID, e.Op, e.Outcome, e.Err)
}

// Unwrap returns the cause.
func (e *ChangeError) Unwrap() error { return e.Err }

// Enroll makes one change and commits it. The error is a [*ChangeError].
//
// PublishFirst inserts the outbox row before the enrollment's row is locked. Of two
// transactions on one enrollment, the outbox may then hold the later one under the
// smaller id and LSN. A [LogPublisher] goes by the order of commits and does not
// mind. A [Poller] goes by the outbox: with one, publishFirst must be false.
func (r *Registrar) Enroll(
	ctx context.Context, learner, course, op string, publishFirst bool,
) error {
	fail := func(outcome Outcome, err error) error {
		return &ChangeError{learner, course, op, outcome, err}
	}
	if learner == "" || course == "" || strings.Contains(learner, "/") {
		return fail(NotDone, errors.New(
			"a learner and a course are needed, and the learner without a slash: it ends "+
				"the learner's part of the key"))
	}
	if op != OpEnrolled && op != OpDropped {
		return fail(NotDone, fmt.Errorf("the op is neither %q nor %q", OpEnrolled, OpDropped))
	}
	var tx uint64
	err := r.calls.once(ctx, func(ctx context.Context) (err error) {
		tx, err = r.store.Begin(ctx)
		return err
	})
	if err != nil {
		return fail(NotDone, fmt.Errorf("beginning a transaction: %w", err))
	}
	if err := r.write(ctx, tx, [3]string{learner, course, op}, publishFirst); err != nil {
		// What it does not reach is rolled back when the session ends.
		_ = r.calls.finish(ctx, func(ctx context.Context) error {
			return r.store.Rollback(ctx, tx)
		})
		return fail(NotDone, err)
	}
	err = r.calls.once(ctx, func(ctx context.Context) error { return r.store.Commit(ctx, tx) })
	if err != nil {
		return fail(Unknown, fmt.Errorf("committing: %w", err))
	}
	return nil
}

// write makes both writes of a transaction, in the order asked for.
func (r *Registrar) write(
	ctx context.Context, tx uint64, change [3]string, publishFirst bool,
) error {
	enroll := func(ctx context.Context) error {
		return r.store.Enroll(ctx, tx, change[0], change[1], change[2])
	}
	publish := func(ctx context.Context) error {
		return r.store.Publish(ctx, tx, change[0], change[1], change[2])
	}
	writes := []func(context.Context) error{enroll, publish}
	if publishFirst {
		writes = []func(context.Context) error{publish, enroll}
	}
	for _, write := range writes {
		if err := r.calls.once(ctx, write); err != nil {
			return fmt.Errorf("writing the change and its outbox row: %w", err)
		}
	}
	return nil
}
