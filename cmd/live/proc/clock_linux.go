package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns CLOCK_MONOTONIC: the time since some moment in the past, the same for all
// processes of this machine.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("proc: no monotonic clock: " + err.Error())
	}
	return time.Duration(t.Nano())
}
