// Package audit reads what is really there at the servers of a run, by reads of its own,
// and removes it: partitions with their control records, offsets of groups, objects. What
// it reads becomes the events that the audit of a simulated run has.
//
// Reading order: reader.go, kafka.go; audit.go, the events; clean.go.
package audit
