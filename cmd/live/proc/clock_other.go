//go:build !linux

package proc

import "time"

var started = time.Now()

// Now returns the time since this process started: live runs need Linux.
func Now() time.Duration { return time.Since(started) }
