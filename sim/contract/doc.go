// Package contract is what every object store must keep to stand behind a hop: the
// sentences of [tap.Store] as a test. The store in memory runs it on every change,
// and live mode runs it on S3, so that a hop that holds in simulation meets the same
// store outside.
//
// Read contract.go.
package contract
