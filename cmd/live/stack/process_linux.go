package stack

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// supported says whether this system has what the package needs.
const supported = true

// bootID names this boot of the machine: start times count from it.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("reading which boot this is: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// startTicks returns when a process started, in clock ticks since the boot; false
// where there is none, or where it has ended and waits for its parent to notice.
// See proc(5), /proc/pid/stat: fields 3 and 22.
func startTicks(pid int) (ticks uint64, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// Field 2 is the name in parentheses, which may hold anything.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	const state, start = 0, 19 // from field 3
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return 0, false
	}
	ticks, err = strconv.ParseUint(fields[start], 10, 64)
	return ticks, err == nil
}

// memory returns the resident set of a process in bytes, 0 where there is none.
func memory(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// processes calls see with every process of the machine.
func processes(see func(pid int)) error {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return fmt.Errorf("listing processes: %w", err)
	}
	for _, e := range all {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			see(pid)
		}
	}
	return nil
}

// marked returns the processes that were started with the variable, "NAME=value",
// in their environment. Those that this user may not look at are none of ours.
func marked(variable string) (pids []int, err error) {
	err = processes(func(pid int) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			return
		}
		for v := range bytes.SplitSeq(b, []byte{0}) {
			if string(v) == variable {
				pids = append(pids, pid)
			}
		}
	})
	return pids, err
}

// within returns the processes whose working directory is dir or below.
func within(dir string) (pids []int, err error) {
	err = processes(func(pid int) {
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		if err != nil {
			return
		}
		if cwd == dir || strings.HasPrefix(cwd, dir+string(filepath.Separator)) {
			pids = append(pids, pid)
		}
	})
	return pids, err
}

// detached makes a process of its own session, so that neither the end of its
// parent nor a Ctrl-C on its parent's terminal reaches it, and gives it to another
// user where one is named.
func detached(owner *Owner) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if owner != nil {
		attr.Credential = &syscall.Credential{Uid: owner.UID, Gid: owner.GID}
	}
	return attr
}

// send sends a signal; a process that is gone is no error.
func send(pid int, signal syscall.Signal) error {
	if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %v to process %d: %w", signal, pid, err)
	}
	return nil
}

// errLocked is what lockFile returns where another holds the lock.
var errLocked = errors.New("locked")

// lockFile takes the lock of a file, which ends with the process at the latest.
func lockFile(name string, wait bool) (release func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, fmt.Errorf("locking %s: %w", name, err)
	}
	return func() { _ = f.Close() }, nil
}

// ephemeral returns the first port that the system gives to outgoing connections.
func ephemeral() int {
	const usual = 32768
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if errors.Is(err, fs.ErrNotExist) {
		return usual
	}
	fields := strings.Fields(string(b))
	if len(fields) == 0 {
		return usual
	}
	if first, err := strconv.Atoi(fields[0]); err == nil {
		return first
	}
	return usual
}
