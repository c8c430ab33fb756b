//go:build !linux

package supervise

import (
	"errors"
	"os"
	"syscall"
)

var errSystem = errors.New("live runs need Linux: elsewhere nothing ends the processes of a " +
	"run that was killed")

func attributes() *syscall.SysProcAttr { return nil }

func pair() (ours, theirs *os.File, err error) { return nil, nil, errSystem }

func send(int, syscall.Signal) {}

// Lock takes the run's lock.
func (f Folder) Lock() (release func(), err error) { return nil, errSystem }
