//go:build synctests

package hops_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
)

// broker starts an in-process Kafka and returns the options that reach it.
func broker() ([]kgo.Opt, *kfake.Cluster) {
	network := new(kfake.VirtualNetwork)
	cluster := kfake.MustCluster(kfake.NumBrokers(1), kfake.ListenFn(network.Listen),
		kfake.SeedTopics(1, "learning.progress", "learning.progress.dlq"))
	return []kgo.Opt{
		kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.Dialer(network.DialContext),
	}, cluster
}

func ExampleNewPlayer() {
	kafka, cluster := broker()
	defer cluster.Close()

	player, err := hops.NewPlayer(hops.PlayerConfig{Kafka: kafka, Topic: "learning.progress"})
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := player.Send(context.Background(), hops.Progress{
		EventID:   hops.NewEventID(),
		LearnerID: "ada", CourseID: "go-101", LessonID: "41",
		PositionS:  90,
		OccurredAt: time.Now(),
	})
	var failed *hops.SendError
	if errors.As(err, &failed) {
		fmt.Println("send it again as", failed.EventID)
		return
	}
	fmt.Println("partition", receipt.Partition, "offset", receipt.Offset)
	if err := player.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: partition 0 offset 0
}

func ExampleNewLanding() {
	kafka, cluster := broker()
	defer cluster.Close()
	player, _ := hops.NewPlayer(hops.PlayerConfig{Kafka: kafka, Topic: "learning.progress"})
	_, _ = player.Send(context.Background(), hops.Progress{
		EventID: "e1", LearnerID: "ada", CourseID: "go-101", LessonID: "41",
		PositionS: 90, OccurredAt: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
	})
	_ = player.Close(context.Background())

	store := &shelf{stored: make(chan string, 1)}
	landing, err := hops.NewLanding(hops.LandingConfig{
		Kafka: kafka,
		Store: store,
		Topic: "learning.progress",
		DLQ:   "learning.progress.dlq",
		Group: "learning-progress-raw-landing",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- landing.Run(ctx) }()
	fmt.Println(<-store.stored)
	stop()
	fmt.Println("stopped:", <-ended)
	// Output:
	// learning.progress/0/00000000000000000000
	// stopped: <nil>
}

// shelf is the smallest store that record naming can land in.
type shelf struct {
	mu      sync.Mutex
	objects map[string][]byte
	stored  chan string
}

func (s *shelf) Put(_ context.Context, key string, body []byte) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects == nil {
		s.objects = make(map[string][]byte)
	}
	s.objects[key] = body
	s.stored <- key
	return "1", nil
}

func (s *shelf) PutIf(context.Context, string, []byte, string) (bool, string, error) {
	return false, "", errors.ErrUnsupported
}

func (s *shelf) Get(_ context.Context, key string) ([]byte, string, error) {
	return nil, "", fmt.Errorf("%s: %w", key, fs.ErrNotExist)
}
