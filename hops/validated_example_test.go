//go:build synctests

package hops_test

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
)

func ExampleNewValidated() {
	kafka, cluster := broker()
	defer cluster.Close()
	if err := cluster.CreateTopic("learning.progress.validated", 1, nil); err != nil {
		fmt.Println(err)
		return
	}
	player, _ := hops.NewPlayer(hops.PlayerConfig{Kafka: kafka, Topic: "learning.progress"})
	_, _ = player.Send(context.Background(), hops.Progress{
		EventID: "e1", LearnerID: "ada", CourseID: "go-101", LessonID: "41",
		PositionS: 90, OccurredAt: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
	})
	_ = player.Close(context.Background())

	validated, err := hops.NewValidated(hops.ValidatedConfig{
		Kafka:    kafka,
		Input:    "learning.progress",
		Output:   "learning.progress.validated",
		Group:    "learning-progress-validated",
		Instance: "validator-0",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- validated.Run(ctx) }()

	reader, err := hops.NewValidatedReader(hops.ValidatedReaderConfig{
		Kafka: kafka, Topic: "learning.progress.validated",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = reader.Run(ctx, func(seen hops.Seen) {
		fmt.Printf("%s is of %v\n", seen.Key, seen.Origin)
		stop()
	})
	fmt.Println("stopped:", <-ended)
	// Output:
	// ada is of learning.progress/0/0
	// stopped: <nil>
}

func ExampleValidatedReader_ReadAll() {
	kafka, cluster := broker()
	defer cluster.Close()
	writer, _ := kgo.NewClient(append(kafka, kgo.TransactionalID("example"))...)
	defer writer.Close()
	for _, commit := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
		_ = writer.BeginTransaction()
		_ = writer.ProduceSync(context.Background(), &kgo.Record{Topic: "learning.progress"})
		_ = writer.EndTransaction(context.Background(), commit)
	}
	for _, isolation := range []hops.Isolation{hops.ReadCommitted, hops.ReadUncommitted} {
		reader, err := hops.NewValidatedReader(hops.ValidatedReaderConfig{
			Kafka: kafka, Topic: "learning.progress", Isolation: isolation,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		all, err := reader.ReadAll(context.Background())
		fmt.Println(isolation, len(all), err)
	}
	// Output:
	// read_committed 1 <nil>
	// read_uncommitted 2 <nil>
}

func ExampleNewDLQReader() {
	kafka, cluster := broker()
	defer cluster.Close()
	writer, _ := kgo.NewClient(kafka...)
	defer writer.Close()
	for range 2 { // landing lost an answer, and dead-lettered the record again
		_ = writer.ProduceSync(context.Background(), &kgo.Record{
			Topic: "learning.progress.dlq", Value: []byte("not JSON"),
			Headers: []kgo.RecordHeader{
				{Key: hops.HeaderTopic, Value: []byte("learning.progress")},
				{Key: hops.HeaderPartition, Value: []byte("0")},
				{Key: hops.HeaderOffset, Value: []byte("17")},
				{Key: hops.HeaderReason, Value: []byte(hops.ReasonNotJSON)},
			},
		})
	}
	reader, err := hops.NewDLQReader(hops.DLQReaderConfig{
		Kafka: kafka, Topic: "learning.progress.dlq",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rejects, err := reader.ReadAll(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, reject := range rejects {
		fmt.Println(reject.Origin, reject.Reason, "copies:", reject.Copies)
	}
	// Output: learning.progress/0/17 not-json copies: 2
}
