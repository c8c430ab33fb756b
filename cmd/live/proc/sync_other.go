//go:build !linux

package proc

import "os"

const dataSync = os.O_SYNC
