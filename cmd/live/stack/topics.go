package stack

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Topic is a topic to be created.
type Topic struct {
	Name       string
	Partitions int32
	Configs    map[string]string // beside min.insync.replicas
}

// CreateTopics creates topics as the hops want them: three replicas, of which two
// must be in sync for a write with acks=all (fewer where the cluster has fewer
// brokers). It returns when all replicas of all partitions are in sync. A topic
// that is there is an error. The client may be in use elsewhere.
func CreateTopics(ctx context.Context, cl *kgo.Client, topics ...Topic) error {
	meta, err := metadata(ctx, cl)
	if err != nil {
		return fmt.Errorf("creating topics: %w", err)
	}
	factor, inSync := replication(len(meta.Brokers))
	if len(meta.Brokers) == 0 {
		return errors.New("creating topics: the cluster has no brokers")
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(readyIn / time.Millisecond)
	var names []string
	for _, t := range topics {
		names = append(names, t.Name)
		ask := kmsg.NewCreateTopicsRequestTopic()
		ask.Topic, ask.NumPartitions, ask.ReplicationFactor = t.Name, t.Partitions, int16(factor)
		ask.Configs = append(ask.Configs, config("min.insync.replicas", strconv.Itoa(inSync)))
		for key, value := range t.Configs {
			ask.Configs = append(ask.Configs, config(key, value))
		}
		req.Topics = append(req.Topics, ask)
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return fmt.Errorf("creating topics: %w", err)
	}
	for _, t := range resp.Topics {
		if err := answered(t.ErrorCode, t.ErrorMessage); err != nil {
			return fmt.Errorf("creating topic %s: %w", t.Topic, err)
		}
	}
	return InSync(ctx, cl, names...)
}

func config(key, value string) kmsg.CreateTopicsRequestTopicConfig {
	c := kmsg.NewCreateTopicsRequestTopicConfig()
	c.Name, c.Value = key, &value
	return c
}

// answered is the error in an answer, with the broker's words.
func answered(code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	if err != nil && message != nil && *message != "" {
		err = fmt.Errorf("%w: %s", err, *message)
	}
	return err
}

// InSync returns when every partition of the topics has a leader and all its
// replicas are in sync; with no topics named, those of all topics. After a broker
// came back this is when it may go again without a loss of writes.
func InSync(ctx context.Context, cl *kgo.Client, topics ...string) error {
	for {
		err := inSync(ctx, cl, topics)
		if err == nil {
			return nil
		}
		if !pause(ctx, askAgain) {
			return fmt.Errorf("waiting for replicas to be in sync: %w", err)
		}
	}
}

func inSync(ctx context.Context, cl *kgo.Client, topics []string) error {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = nil // all
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		name := "?"
		if t.Topic != nil {
			name = *t.Topic
		}
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return fmt.Errorf("topic %s: %w", name, err)
		}
		for _, p := range t.Partitions {
			err := kerr.ErrorForCode(p.ErrorCode)
			if err == nil && (p.Leader < 0 || len(p.ISR) < len(p.Replicas)) {
				err = fmt.Errorf("leader %d, %d of %d replicas in sync",
					p.Leader, len(p.ISR), len(p.Replicas))
			}
			if err != nil {
				return fmt.Errorf("%s/%d: %w", name, p.Partition, err)
			}
		}
	}
	return nil
}

func deleteTopic(ctx context.Context, cl *kgo.Client, name string) error {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = int32(readyIn / time.Millisecond)
	req.TopicNames = []string{name} // what versions before topic ids read
	t := kmsg.NewDeleteTopicsRequestTopic()
	t.Topic = &name
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return fmt.Errorf("deleting topic %s: %w", name, err)
	}
	for _, t := range resp.Topics {
		if err := answered(t.ErrorCode, t.ErrorMessage); err != nil {
			return fmt.Errorf("deleting topic %s: %w", name, err)
		}
	}
	return nil
}

// findCoordinators returns when a group and a transactional id have theirs.
func findCoordinators(ctx context.Context, cl *kgo.Client) error {
	const group, transaction = 0, 1
	for _, kind := range []int8{group, transaction} {
		for {
			req := kmsg.NewPtrFindCoordinatorRequest()
			req.CoordinatorType = kind
			req.CoordinatorKey = "hopcheck-probe"
			resp, err := req.RequestWith(ctx, cl)
			if err == nil {
				err = kerr.ErrorForCode(resp.ErrorCode)
			}
			if err == nil && len(resp.Coordinators) > 0 {
				err = kerr.ErrorForCode(resp.Coordinators[0].ErrorCode)
			}
			if err == nil {
				break
			}
			if !pause(ctx, askAgain) {
				return fmt.Errorf("waiting for a coordinator: %w", err)
			}
		}
	}
	return nil
}

// client is one for questions that are asked again anyhow.
func client(seeds ...string) (*kgo.Client, error) {
	const patience = 5 * time.Second
	cl, err := kgo.NewClient(kgo.SeedBrokers(seeds...), kgo.DialTimeout(patience),
		kgo.RetryTimeout(patience), kgo.RequestTimeoutOverhead(patience))
	if err != nil {
		return nil, fmt.Errorf("asking Kafka: %w", err)
	}
	return cl, nil
}

// metadata returns the brokers and no topics.
func metadata(ctx context.Context, cl kmsg.Requestor) (*kmsg.MetadataResponse, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	return req.RequestWith(ctx, cl)
}
