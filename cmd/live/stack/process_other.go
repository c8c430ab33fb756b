//go:build !linux

package stack

import (
	"errors"
	"syscall"
)

const supported = false

// What follows is never reached: Up and Open refuse first.

var (
	errLocked   = errors.New("locked")
	errNotLinux = errors.New("not on this system")
)

func bootID() (string, error)               { return "", errNotLinux }
func startTicks(int) (uint64, bool)         { return 0, false }
func memory(int) int64                      { return 0 }
func marked(string) ([]int, error)          { return nil, errNotLinux }
func within(string) ([]int, error)          { return nil, errNotLinux }
func detached(*Owner) *syscall.SysProcAttr  { return nil }
func send(int, syscall.Signal) error        { return errNotLinux }
func lockFile(string, bool) (func(), error) { return nil, errNotLinux }
func ephemeral() int                        { return 0 }
