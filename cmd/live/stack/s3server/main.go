//go:build ignore

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: s3server ADDRESS FOLDER")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "s3server:", err)
		os.Exit(1)
	}
}

func serve(address, folder string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	data, versions := filepath.Join(folder, "data"), filepath.Join(folder, "versions")
	for _, dir := range []string{data, versions} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	// Extended attributes, not side files: those mixed the data and the checksums of
	// different versions of an object that was overwritten at the same time.
	store := meta.XattrMeta{}
	if err := store.Test(data); err != nil {
		return fmt.Errorf("extended attributes in %s: %w", data, err)
	}
	const calls = 256 // at once, each of which may take a thread
	backend, err := posix.New(data, store, posix.PosixOpts{
		VersioningDir: versions, Concurrency: calls,
	})
	if err != nil {
		return err
	}
	defer backend.Shutdown()
	const clients, parts = 4096, 10_000
	return embedgw.RunVersityGW(ctx, backend, &embedgw.Config{
		RootUserAccess:    os.Getenv("S3SERVER_ACCESS_KEY"),
		RootUserSecret:    os.Getenv("S3SERVER_SECRET_KEY"),
		Ports:             []string{address},
		MaxConnections:    clients,
		MaxRequests:       clients,
		MultipartMaxParts: parts,
		HealthPath:        "/health",
		KeepAlive:         true,
		Quiet:             true,
	})
}
