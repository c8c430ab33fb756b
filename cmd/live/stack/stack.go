package stack

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// MaxBrokers bounds the brokers of a stack; each takes 0.2 GiB.
const MaxBrokers = 9

// Options say which stack is wanted.
type Options struct {
	Dir     string // where everything goes; made where there is none
	Brokers int    // 1 to MaxBrokers; a stack that is started again keeps its own
	Kafka   string // version to fetch, "" for DefaultKafka; KAFKA_HOME goes before it
	Install bool   // install Debian's packages of what is missing, as root
	// Tell is told what is being done, in a few words; nil tells nobody. It may be
	// called by several goroutines at once.
	Tell func(doing string)
}

func (o Options) tell(doing string) {
	if o.Tell != nil {
		o.Tell(doing)
	}
}

// Stack is a stack of servers in a folder. Its methods may be called at once, by
// several processes too.
type Stack struct {
	dir string
	id  string
}

// ErrUp is what [Up] returns where the stack in the folder runs, or a part of it.
var ErrUp = errors.New("a stack is up")

// ErrBusy is what [Up] and [Stack.Down] return while another of them is at work in
// the folder.
var ErrBusy = errors.New("another `live up` or `live down` is at work in this folder")

var errSystem = errors.New("the local stack needs Linux")

// Up starts a stack and returns when every server answers. The servers go on when
// the calling process ends. A stack that was kept by [Stack.Down], or whose
// processes are gone since, is started again with its data. Where something fails,
// or the context ends, what was started is stopped and the data are left to be
// looked at. The error is [Missing] where programs must be installed, and [ErrUp]
// or [ErrBusy] where the folder is in use.
func Up(ctx context.Context, o Options) (*Stack, error) {
	s, err := open(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Kafka == "" {
		o.Kafka = DefaultKafka
	}
	if o.Brokers < 1 || o.Brokers > MaxBrokers {
		return nil, fmt.Errorf("a stack of %d brokers: want 1 to %d", o.Brokers, MaxBrokers)
	}
	fresh, err := s.claim()
	if err != nil {
		return nil, err
	}
	release, err := lockFile(filepath.Join(s.dir, workName), false)
	if err != nil {
		return nil, busy(err)
	}
	defer release()
	if fresh, err = s.mayStart(fresh); err != nil {
		return nil, err
	}
	if fresh {
		found, err := findOrInstall(ctx, o)
		if err == nil {
			err = s.lay(o.Brokers, found)
		}
		if err != nil {
			return nil, errors.Join(err, s.removeFolder())
		}
	}
	if err := s.startAll(ctx, o.tell); err != nil {
		_, stopErr := s.stop(context.WithoutCancel(ctx), true)
		return nil, errors.Join(err, stopErr)
	}
	return s, nil
}

func busy(err error) error {
	if errors.Is(err, errLocked) {
		return ErrBusy
	}
	return err
}

// Open returns the stack in the folder, whether it runs or not.
func Open(dir string) (*Stack, error) {
	s, err := open(dir)
	if err != nil {
		return nil, err
	}
	st, err := readState(s.dir)
	s.id = st.ID
	return s, err
}

// startable looks for what may have changed since the state was written.
func (s *State) startable() error {
	for _, srv := range s.Servers {
		if !isFile(srv.Command.Program) {
			return fmt.Errorf("%s of %s is gone: `live down` and a new `live up` find another",
				srv.Command.Program, srv.Name)
		}
		for _, at := range []string{srv.Address, srv.Controller} {
			if at == "" {
				continue
			}
			if err := free(at); err != nil {
				return fmt.Errorf("the port of %s is taken; `live down` and a new `live up` "+
					"choose another: %w", srv.Name, err)
			}
		}
	}
	return nil
}

// Absent says whether the error means that there is no stack in the folder.
func Absent(err error) bool { return errors.Is(err, errNoStack) }

func open(dir string) (*Stack, error) {
	if !supported {
		return nil, errSystem
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for the stack: %w", err)
	}
	return &Stack{dir: abs}, nil
}

// claim makes the folder. It refuses one with something in it that is no stack, as
// Down removes folders there.
func (s *Stack) claim() (fresh bool, err error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return false, fmt.Errorf("making the stack's folder: %w", err)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return false, fmt.Errorf("reading the stack's folder: %w", err)
	}
	if isFile(s.folder(stateName)) {
		return false, nil
	}
	for _, e := range entries {
		if e.Name() != guardName && e.Name() != workName {
			return false, fmt.Errorf("%s holds %s and no stack: use another folder with --dir",
				s.dir, e.Name())
		}
	}
	return true, nil
}

// mayStart refuses where servers run. Another Up may have been here since claim.
func (s *Stack) mayStart(fresh bool) (bool, error) {
	st, err := readState(s.dir)
	if errors.Is(err, errNoStack) && fresh {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	s.id = st.ID
	if names := st.running(); len(names) > 0 {
		return false, fmt.Errorf("%w in %s since %s (%s): `live status` shows it, "+
			"`live down` stops it", ErrUp, s.dir, st.Since.Format(time.DateTime),
			strings.Join(names, ", "))
	}
	// Started by an Up that was killed before it knew the id.
	pids, err := marked(mark + "=" + st.ID)
	if err == nil && len(pids) > 0 {
		err = fmt.Errorf("%w in %s, left by a `live up` that did not end (processes %v): "+
			"`live down` stops it", ErrUp, s.dir, pids)
	}
	if err != nil {
		return false, err
	}
	return false, s.again()
}

// again makes the state of a stopped stack one that can start.
func (s *Stack) again() error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	return change(s.dir, func(st *State) error {
		st.Boot, st.Since, st.Ending = boot, time.Now(), false
		for i := range st.Servers {
			srv := &st.Servers[i]
			srv.Process, srv.ReadyS = Process{}, 0
		}
		return nil
	})
}

// lay chooses ports and writes the first state, before anything is made or started.
func (s *Stack) lay(brokers int, found programs) error {
	boot, err := bootID()
	if err != nil {
		return err
	}
	s.id = newID()
	salt := fnv.New32a()
	salt.Write([]byte(s.id))
	ports, err := freePorts(2*brokers+2, salt.Sum32())
	if err != nil {
		return err
	}
	st := State{Form: form, ID: s.id, Boot: boot, Since: time.Now()}
	for i := range brokers {
		pair := [2]int{ports[2*i], ports[2*i+1]}
		st.Servers = append(st.Servers, s.broker(int32(i+1), found, pair))
	}
	db, err := s.database(found, ports[2*brokers])
	if err != nil {
		return err
	}
	st.Servers = append(st.Servers, db, s.objects(found, ports[2*brokers+1]))
	return st.write(s.dir)
}

// newID is also the id of the Kafka cluster: 16 bytes as Kafka writes them. A
// leading dash would look like an option to its tool.
func newID() string {
	for {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails
		if id := base64.RawURLEncoding.EncodeToString(b[:]); id[0] != '-' {
			return id
		}
	}
}

// startAll starts every server and then asks the brokers whether they are a cluster.
func (s *Stack) startAll(ctx context.Context, tell func(string)) error {
	st, err := readState(s.dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, logsName), 0o755); err != nil {
		return fmt.Errorf("making the stack's folders: %w", err)
	}
	if err := st.startable(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	errs := make([]error, len(st.Servers))
	for i, srv := range st.Servers {
		all.Go(func() {
			tell("starting " + srv.Name)
			if !srv.Prepared {
				errs[i] = s.prepare(ctx, &st, srv)
			}
			if errs[i] == nil {
				errs[i] = s.Start(ctx, srv.Name)
			}
			if errs[i] != nil {
				cancel() // the others need not go on
				return
			}
			tell(srv.Name + " answers")
		})
	}
	all.Wait()
	if err := first(errs); err != nil {
		return err
	}
	limit, stop := context.WithTimeout(ctx, readyIn)
	defer stop()
	return clusterReady(limit, &st)
}

// first returns the error that the others may come from: what was cut short because
// of another says nothing.
func first(errs []error) error {
	var cut error
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		cut = errors.Join(cut, err)
	}
	return cut
}

// prepare fills a server's folder.
func (s *Stack) prepare(ctx context.Context, st *State, srv Server) error {
	if err := os.MkdirAll(s.folder(srv.Name), 0o755); err != nil {
		return fmt.Errorf("preparing %s: %w", srv.Name, err)
	}
	var err error
	switch srv.Kind {
	case Kafka:
		err = s.prepareBroker(ctx, st, &srv)
	case Postgres:
		err = s.prepareDatabase(ctx, &srv)
	case S3: // makes its folders itself
	}
	if err != nil {
		return err
	}
	return change(s.dir, func(st *State) error {
		st.server(srv.Name).Prepared = true
		return nil
	})
}

// Start starts a server that was killed or has ended, with its data, and returns
// when it answers.
func (s *Stack) Start(ctx context.Context, name string) error {
	began := time.Now()
	if err := s.launch(name); err != nil {
		return err
	}
	st, err := readState(s.dir)
	if err != nil {
		return err
	}
	if err := s.await(ctx, name, ready(st.server(name))); err != nil {
		return err
	}
	return change(s.dir, func(st *State) error {
		st.server(name).ReadyS = time.Since(began).Seconds()
		return nil
	})
}

// ready is the question whether a server answers.
func ready(srv *Server) func(context.Context) error {
	ask := map[Kind]func(context.Context, *Server) error{
		Kafka: brokerReady, Postgres: databaseReady, S3: objectsReady,
	}[srv.Kind]
	return func(ctx context.Context) error {
		if ask == nil {
			return fmt.Errorf("%s is of no known kind, %q", srv.Name, srv.Kind)
		}
		return ask(ctx, srv)
	}
}

// Kill ends a server by SIGKILL and returns when it is gone, with what it started.
// One that does not run is no error.
func (s *Stack) Kill(ctx context.Context, name string) error {
	return change(s.dir, func(st *State) error {
		srv := st.server(name)
		if srv == nil {
			return fmt.Errorf("killing %s: the stack has no such server", name)
		}
		err := end(ctx, srv.Process, st.Boot, syscall.SIGKILL)
		if err == nil && srv.Kind == Postgres {
			err = emptied(ctx, s.tables())
		}
		if err != nil {
			return fmt.Errorf("killing %s: %w", name, err)
		}
		srv.Process = Process{}
		return nil
	})
}

// KillBroker kills the broker with the id, from 1, as [Stack.Kill] does.
func (s *Stack) KillBroker(ctx context.Context, id int32) error {
	return s.Kill(ctx, brokerName(id))
}

// StartBroker starts the broker with the id, as [Stack.Start] does. It may serve
// then; [InSync] says when its replicas have caught up.
func (s *Stack) StartBroker(ctx context.Context, id int32) error {
	return s.Start(ctx, brokerName(id))
}

// State returns what is known of the stack now.
func (s *Stack) State() (State, error) { return readState(s.dir) }

// Dir is the folder of the stack, absolute.
func (s *Stack) Dir() string { return s.dir }

// removeFolder removes the folder if it holds nothing but locks.
func (s *Stack) removeFolder() error {
	var err error
	for _, name := range []string{guardName, workName} {
		err = errors.Join(err, absentOK(os.Remove(filepath.Join(s.dir, name))))
	}
	// What somebody else put there stays, and so does the folder.
	if entries, readErr := os.ReadDir(s.dir); readErr == nil && len(entries) == 0 {
		err = errors.Join(err, absentOK(os.Remove(s.dir)))
	}
	if err != nil {
		return fmt.Errorf("removing the stack's folder: %w", err)
	}
	return nil
}

func absentOK(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
