package target_test

import (
	"errors"
	"testing"

	"github.com/hopcheck/hopcheck/cmd/live/target"
)

func TestAllow(t *testing.T) {
	const here, there = "127.0.0.1:9092", "kafka.example.com:9092"
	for _, test := range []struct {
		name     string
		brokers  []string
		endpoint string
		allowed  bool
	}{
		{"this machine", []string{here, "localhost:1", "[::1]:2"}, "http://127.0.0.1:3", true},
		{"a broker elsewhere", []string{here, there}, "http://127.0.0.1:3", false},
		{"a store elsewhere", []string{here}, "https://s3.example.com", false},
		{"Amazon's store", []string{here}, "", false},
		{"an address like ours", []string{"127.0.0.1.example.com:9092"}, "http://[::1]", false},
		{"a name like ours", []string{"localhost.example.com:1"}, "http://[::1]", false},
		{"a private address", []string{"10.0.0.7:9092"}, "http://127.0.0.1:3", false},
		{"no broker", []string{""}, "http://127.0.0.1:3", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := target.Target{Brokers: test.brokers, Endpoint: test.endpoint, Bucket: "b"}
			err := s.Allow(false)
			if test.allowed != (err == nil) || err != nil && !errors.Is(err, target.ErrElsewhere) {
				t.Errorf("got %v", err)
			}
			if err := s.Allow(true); err != nil {
				t.Errorf("with the user's yes: %v", err)
			}
		})
	}
}

// TestStoreWantsPrefix refuses what would be all of a bucket.
func TestStoreWantsPrefix(t *testing.T) {
	s := target.Target{Endpoint: "http://127.0.0.1:1", Region: "r", Bucket: "b"}
	env := []string{"AWS_ACCESS_KEY_ID=k", "AWS_SECRET_ACCESS_KEY=s"}
	if _, err := s.Store("", env); err == nil {
		t.Error("a store without a prefix was opened")
	}
	if _, err := s.Store("p/", env); err != nil {
		t.Error(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	if _, err := s.Store("p/", nil); err == nil {
		t.Error("a store without credentials was opened")
	}
}

func TestFindWantsAll(t *testing.T) {
	t.Setenv("HOPCHECK_BROKERS", "127.0.0.1:9092")
	t.Setenv("HOPCHECK_S3_BUCKET", "")
	if _, _, err := target.Find(t.TempDir()); err == nil {
		t.Error("servers without a bucket were found")
	}
}
