// Package proc is one life of a process on real servers: an operating-system process
// whose connections and calls cross the taps of simulation, and whose events outlive its
// own SIGKILL.
//
// # The file of a life
//
// Every event is a line of the life's own file, in the form of a history, and is synced
// before it takes effect: a request before it leaves, an answer before the process sees
// it. Its time is CLOCK_MONOTONIC, which all processes of a machine share and which goes
// on while a process stands still, so between the files of one run there is no skew: if
// one event caused another, through whatever server, it has the earlier time. Two that
// were under way at once may have taken effect in either order, as on any real system;
// promises compare a request with answers that came before it.
//
// Reading order: clock_linux.go, file.go; gate.go, what becomes of each crossing; link.go, how a
// life and its supervisor talk; life.go.
package proc
