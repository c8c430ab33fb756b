//go:build live && linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/hopcheck/hopcheck/cmd/live/s3store"
	"github.com/hopcheck/hopcheck/cmd/live/stack"
	"github.com/hopcheck/hopcheck/sim/contract"
	"github.com/hopcheck/hopcheck/sim/tap"
)

func storeConfig(t *testing.T, s *stack.Stack, prefix string) s3store.Config {
	t.Helper()
	return s3store.Config{
		Endpoint: variable(t, s, "HOPCHECK_S3_ENDPOINT"),
		Bucket:   variable(t, s, "HOPCHECK_S3_BUCKET"),
		Region:   variable(t, s, "AWS_REGION"), Prefix: prefix,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{
				AccessKeyID: stack.S3AccessKey, SecretAccessKey: stack.S3SecretKey,
			}, nil
		}),
	}
}

func opened(t *testing.T, c s3store.Config) *s3store.Store {
	t.Helper()
	store, err := s3store.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func objects(t *testing.T, s *stack.Stack) {
	stores := 0
	t.Run("contract", func(t *testing.T) {
		contract.Store(t, func(t *testing.T) tap.Store {
			stores++
			return leaves{opened(t, storeConfig(t, s, fmt.Sprintf("store-%d/", stores)))}
		})
	})
	t.Run("lost replies", func(t *testing.T) { lostReplies(t, s) })
	t.Run("reach", func(t *testing.T) { reach(t, s) })
	t.Run("kill", func(t *testing.T) { killObjects(t, s) })
}

// leaves ends every key with a space, which sorts before every other character. The
// local server keeps objects as files, so that of "b" and "b/1" it can hold one; S3
// holds both, which two sentences of the contract ask for, and no hop does.
type leaves struct{ tap.Store }

func (l leaves) Put(ctx context.Context, key string, body []byte) (string, error) {
	return l.Store.Put(ctx, key+" ", body)
}

func (l leaves) PutIf(
	ctx context.Context, key string, body []byte, etag string,
) (bool, string, error) {
	return l.Store.PutIf(ctx, key+" ", body, etag)
}

func (l leaves) Get(ctx context.Context, key string) ([]byte, string, error) {
	return l.Store.Get(ctx, key+" ")
}

func (l leaves) Delete(ctx context.Context, key string) error {
	return l.Store.Delete(ctx, key+" ")
}

func (l leaves) List(ctx context.Context, prefix, after string, limit int) ([]string, error) {
	if after != "" {
		after += " "
	}
	keys, err := l.Store.List(ctx, prefix, after, limit)
	for i := range keys {
		keys[i] = strings.TrimSuffix(keys[i], " ")
	}
	return keys, err
}

// lossy loses the replies to as many puts, and to what follows them, as it is told.
type lossy struct {
	*http.Client
	lose atomic.Int32
}

func (l *lossy) Do(req *http.Request) (*http.Response, error) {
	resp, err := l.Client.Do(req)
	if err == nil && l.lose.Add(-1) >= 0 {
		_ = resp.Body.Close()
		return nil, errors.New("the reply was lost")
	}
	return resp, err
}

// lostReplies has conditional puts that were stored come back without an answer.
func lostReplies(t *testing.T, s *stack.Stack) {
	wire := &lossy{Client: &http.Client{}}
	c := storeConfig(t, s, "lost/")
	c.Client = wire
	store := opened(t, c)
	ctx := t.Context()
	wire.lose.Store(1)
	ok, tag, err := store.PutIf(ctx, "k", []byte("one"), "")
	if !ok || err != nil {
		t.Fatalf("the reply was lost, and the object is there: %v, %v", ok, err)
	}
	wire.lose.Store(2) // that to the question what is there, too
	if ok, _, err := store.PutIf(ctx, "k", []byte("two"), tag); ok || err == nil {
		t.Fatalf("nothing is known of the put: %v, %v", ok, err)
	}
	ok, tag, err = store.PutIf(ctx, "k", []byte("two"), tag)
	if !ok || err != nil {
		t.Fatalf("the same again is refused for what it did itself: %v, %v", ok, err)
	}
	if ok, _, err := store.PutIf(ctx, "k", []byte("three"), "\"0123\""); ok || err != nil {
		t.Fatalf("a condition that does not hold: %v, %v", ok, err)
	}
	body, now, err := store.Get(ctx, "k")
	if string(body) != "two" || now != tag || err != nil {
		t.Errorf("the object is %q, %s, %v", body, now, err)
	}
}

// reach wants a clear line for each thing that can be wrong.
func reach(t *testing.T, s *stack.Stack) {
	right := storeConfig(t, s, "")
	if err := opened(t, right).Reach(t.Context()); err != nil {
		t.Error(err)
	}
	bucket, endpoint, credentials := right, right, right
	bucket.Bucket = "none"
	endpoint.Endpoint = "http://127.0.0.1:1"
	credentials.Credentials = aws.CredentialsProviderFunc(
		func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: stack.S3AccessKey, SecretAccessKey: "wrong"}, nil
		})
	for want, c := range map[string]s3store.Config{
		"there is no bucket none":     bucket,
		"no answer for bucket":        endpoint,
		"the credentials are refused": credentials,
	} {
		err := opened(t, c).Reach(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// killObjects has an object outlive a SIGKILL of the server.
func killObjects(t *testing.T, s *stack.Stack) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	store := opened(t, storeConfig(t, s, "kill/"))
	tag, err := store.Put(ctx, "k", []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(ctx, "s3"); err != nil {
		t.Fatal(err)
	}
	var unknown *s3store.Error
	_, err = store.Put(ctx, "k", []byte("two"))
	if !errors.As(err, &unknown) || unknown.Refusal() != "" {
		t.Errorf("a put to a server that was killed: %v, want that it is unknown", err)
	}
	if err := s.Start(ctx, "s3"); err != nil {
		t.Fatal(err)
	}
	body, now, err := store.Get(ctx, "k")
	if string(body) != "one" || now != tag || err != nil {
		t.Errorf("after a kill: %q, %s, %v", body, now, err)
	}
}
