package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// atRandom is the entry of a process's auxiliary vector that points to the 16
// random bytes which the kernel gives it (getauxval(3)). Go's runtime seeds itself
// from them: select, map order, and timers of one instant follow.
const atRandom = 25

// StartFresh starts cmd as a process whose runtime makes the same random choices
// every time, so that a run as the first thing that it does repeats exactly. It
// reports whether that could be arranged: not every system lets a process be
// traced, and then cmd is started plainly. The error is that of starting.
//
// The new process is stopped at its first instruction with ptrace(2), its 16 random
// bytes are overwritten, and it is let go.
func StartFresh(cmd *exec.Cmd) (fixed bool, err error) {
	steadyEnv(cmd)
	// The thread that traces must be the thread that started the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		if !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.ENOSYS) {
			return false, err
		}
		cmd.SysProcAttr.Ptrace = false
		return false, cmd.Start()
	}
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		return false, fmt.Errorf("waiting for process %d to stop: %w", pid, err)
	}
	if status.Signaled() {
		return false, fmt.Errorf("process %d was killed as it started: %s", pid, status.Signal())
	}
	fixErr := fixRandom(pid)
	if err := syscall.PtraceDetach(pid); err != nil {
		_ = cmd.Process.Kill()
		return false, fmt.Errorf("letting process %d go: %w", pid, err)
	}
	return fixErr == nil, nil
}

// fixRandom overwrites the random bytes of a stopped process.
func fixRandom(pid int) error {
	auxv, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	if err != nil {
		return err
	}
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.NativeEndian.Uint64(auxv) != atRandom {
			continue
		}
		at := uintptr(binary.NativeEndian.Uint64(auxv[8:]))
		_, err := syscall.PtracePokeData(pid, at, []byte("hopcheck fresh 1"))
		return err
	}
	return errors.New("the process has no random bytes")
}
