//go:build !linux

package sim

import "os/exec"

// StartFresh starts cmd. On Linux it also makes the runtime of the new process
// repeat its random choices, and reports true; here it cannot.
func StartFresh(cmd *exec.Cmd) (fixed bool, err error) {
	steadyEnv(cmd)
	return false, cmd.Start()
}
