//go:build ignore

// S3server is the S3 server of the local stack: versitygw over a folder, with no
// more of it than the stack needs.
//
//	S3SERVER_ACCESS_KEY=... S3SERVER_SECRET_KEY=... s3server ADDRESS FOLDER
//
// Objects go to FOLDER/data, old versions to FOLDER/versions. GET /health answers
// 200 once it serves.
//
// It is a module of its own, so that the 60 modules behind it stay out of ours.
// Package stack embeds main.go, mod.txt and sum.txt, writes them into its cache as
// main.go, go.mod and go.sum, and builds them there. To change a version, do the
// same in an empty folder, run `go mod tidy` there, and copy both files back.
package main
