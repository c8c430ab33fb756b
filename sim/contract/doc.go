// Package contract is what every object store and every database must keep to stand
// behind a hop: the sentences of [tap.Store] and of [tap.Database] as tests. Those in
// memory run them on every change, and live mode runs them on S3 and on PostgreSQL, so
// that a hop that holds in simulation meets the same outside.
//
// Read contract.go for stores; database.go, then database_*.go for databases.
package contract
