// Package s3store is the object store of the hops on Amazon S3, or on a server that
// keeps to what S3 documents for conditional writes.
//
// # What an error means
//
// Every call is one request: nothing is sent again behind the caller's back. The
// client of the AWS SDK would, and then a conditional put that was stored and whose
// reply was lost comes back to its own author as refused (412), which is wrong. So
// its retries are off, and what comes back without an answer is what it is: unknown.
//
// The caller sends again, as it must do with any store. For the conditional put the
// store remembers what it does not know: where the answer to an earlier put is
// missing, and the object now has the entity tag of the bytes that were to be put,
// the put has been done. The entity tag of an object that was put in one piece and is
// not encrypted with a key of its own is the MD5 of its bytes; where it is not, the
// outcome stays unknown, or refused.
//
// # Reading order
//
// store.go: the calls. answer.go: what came of a request.
package s3store
