package stack

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// What the local S3 server is told and its clients need. These are no secrets: it
// listens on the loopback address and its objects are thrown away.
const (
	S3Bucket    = "hopcheck"
	S3Region    = "us-east-1"
	S3AccessKey = "hopcheck"
	S3SecretKey = "hopcheck-local"
)

const s3Name = "s3"

// s3Version is that of versitygw, as mod.txt has it.
const s3Version = "1.8.0"

var (
	//go:embed s3server/main.go
	s3Main string
	//go:embed s3server/mod.txt
	s3Mod string
	//go:embed s3server/sum.txt
	s3Sum string
)

// building returns the path of a program.
type building func(ctx context.Context, tell func(string)) (string, error)

// findS3 returns how to get the S3 server: from the cache, or built into it.
func findS3() (building, *Need) {
	digest := sha256.Sum256([]byte(s3Main + s3Mod + s3Sum))
	folder := "s3server-" + hex.EncodeToString(digest[:6])
	base, err := cacheFolder()
	if err != nil || !isDir(filepath.Join(base, folder)) {
		if _, err := exec.LookPath("go"); err != nil {
			return nil, &Need{
				What: "Go, to build the S3 server", Package: "golang-go", Remedy: "add it to PATH",
			}
		}
	}
	return func(ctx context.Context, tell func(string)) (string, error) {
		dir, err := cached(folder, func(dir string) error {
			tell("building the S3 server (some minutes the first time)")
			return buildS3(ctx, dir)
		})
		return filepath.Join(dir, "s3server"), err
	}, nil
}

func buildS3(ctx context.Context, dir string) error {
	// The line keeps the file out of our own module and has done its work.
	source := strings.TrimPrefix(s3Main, "//go:build ignore\n")
	for _, f := range [][2]string{{"main.go", source}, {"go.mod", s3Mod}, {"go.sum", s3Sum}} {
		if err := os.WriteFile(filepath.Join(dir, f[0]), []byte(f[1]), 0o644); err != nil {
			return fmt.Errorf("building the S3 server: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w",
		"-o", "s3server", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the S3 server: %w", said(err, out))
	}
	return nil
}

// objects describes the S3 server.
func (s *Stack) objects(p programs, port int) Server {
	return Server{
		Name: s3Name, Kind: S3, Version: s3Version, Address: address(port),
		Command: Command{
			Program: p.s3, Args: []string{address(port), s.folder(s3Name)},
			Env: []string{
				"S3SERVER_ACCESS_KEY=" + S3AccessKey, "S3SERVER_SECRET_KEY=" + S3SecretKey,
			},
		},
	}
}

func s3Endpoint(srv *Server) string { return "http://" + srv.Address }

// objectsReady wants the server's word that it is well, and the bucket.
func objectsReady(ctx context.Context, srv *Server) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s3Endpoint(srv)+"/health", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET /health: %s", resp.Status)
	}
	_, err = s3Client(srv).CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(S3Bucket)})
	var ours *types.BucketAlreadyOwnedByYou
	if err != nil && !errors.As(err, &ours) {
		return err
	}
	return nil
}

func s3Client(srv *Server) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(s3Endpoint(srv)), Region: S3Region, UsePathStyle: true,
		Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: S3AccessKey, SecretAccessKey: S3SecretKey}, nil
		}),
	})
}
