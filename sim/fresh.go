package sim

import (
	"os"
	"os/exec"
)

// steadyEnv turns off what interrupts goroutines at moments of the machine's
// choosing.
func steadyEnv(cmd *exec.Cmd) {
	env := cmd.Env
	if env == nil {
		env = os.Environ()
	}
	setting := "asyncpreemptoff=1"
	for _, e := range env {
		if len(e) > 8 && e[:8] == "GODEBUG=" {
			setting = e[8:] + "," + setting
		}
	}
	cmd.Env = append(env[:len(env):len(env)], "GODEBUG="+setting, "GOMAXPROCS=1", "GOGC=off")
}
