package supervise

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// attributes makes a process the first of its own group, out of reach of the terminal's
// Ctrl-C, that is killed when the thread that started it ends, at the latest with this
// process, however that ends.
func attributes() *syscall.SysProcAttr {
	runtime.LockOSThread() // for good: the thread ends with the goroutine, and not before
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// pair returns two ends of a connection, the first for this process.
func pair() (ours, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("making the connection to a process: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs"), nil
}

// send sends a signal to a process and its group; one that is gone is no error.
func send(pid int, s syscall.Signal) {
	if err := syscall.Kill(-pid, s); errors.Is(err, syscall.ESRCH) {
		_ = syscall.Kill(pid, s) // it had no group yet
	}
}

// Lock takes the run's lock, which ends with this process. It returns [ErrGoesOn] where
// another has it.
func (f Folder) Lock() (release func(), err error) {
	file, err := os.OpenFile(f.in(lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking the run: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, fmt.Errorf("%w: process with %s", ErrGoesOn, f.in(lockName))
	}
	return func() { _ = file.Close() }, nil
}
