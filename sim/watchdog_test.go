package sim

import (
	"os"
	"time"
)

// A program that a test starts to see it hang shall not take a minute for that.
func init() {
	if os.Getenv("HOPCHECK_TEST_HANG") != "" {
		stuckAfter = time.Second
	}
}
