package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/cmd/live/worlds"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// Removed is what [Clean] removed.
type Removed struct {
	Topics  []string
	Groups  []string
	Objects int
}

// Clean removes the topics and groups whose names begin with the run's prefix, and all
// objects of store, which must be those with the run's prefix alone. What it does not
// find is no error. Transactional ids cannot be removed; the brokers forget them.
func Clean(
	ctx context.Context, cl *kgo.Client, store tap.Store, id string,
) (Removed, error) {
	var done Removed
	if err := worlds.CheckID(id); err != nil {
		return done, err
	}
	prefix := worlds.Names{ID: id}.Topics()
	var err error
	if done.Groups, err = cleanGroups(ctx, cl, prefix); err != nil {
		return done, err
	}
	if done.Topics, err = cleanTopics(ctx, cl, prefix); err != nil {
		return done, err
	}
	for {
		keys, err := store.List(ctx, "", "", page)
		if err != nil || len(keys) == 0 {
			return done, err
		}
		for _, key := range keys {
			if err := store.Delete(ctx, key); err != nil {
				return done, err
			}
			done.Objects++
		}
	}
}

func cleanTopics(ctx context.Context, cl *kgo.Client, prefix string) ([]string, error) {
	all := kmsg.NewPtrMetadataRequest()
	all.Topics = nil // every one
	meta, err := all.RequestWith(ctx, cl)
	if err != nil {
		return nil, fmt.Errorf("listing topics: %w", err)
	}
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = 30_000
	var names []string
	for _, t := range meta.Topics {
		if t.Topic == nil || !strings.HasPrefix(*t.Topic, prefix) {
			continue
		}
		names = append(names, *t.Topic)
		req.TopicNames = append(req.TopicNames, *t.Topic) // what old versions read
		d := kmsg.NewDeleteTopicsRequestTopic()
		d.Topic = t.Topic
		req.Topics = append(req.Topics, d)
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, fmt.Errorf("deleting topics: %w", err)
	}
	for _, t := range resp.Topics {
		err := kerr.ErrorForCode(t.ErrorCode)
		if err != nil && t.ErrorCode != kerr.UnknownTopicOrPartition.Code {
			return nil, fmt.Errorf("deleting topic %s: %w", *t.Topic, err)
		}
	}
	return names, nil
}

// cleanGroups waits for groups whose members were killed and have not been missed yet.
func cleanGroups(ctx context.Context, cl *kgo.Client, prefix string) ([]string, error) {
	listed, err := kmsg.NewPtrListGroupsRequest().RequestWith(ctx, cl)
	if err != nil {
		return nil, fmt.Errorf("listing groups: %w", err)
	}
	var names []string
	for _, g := range listed.Groups {
		if strings.HasPrefix(g.Group, prefix) {
			names = append(names, g.Group)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for {
			req := kmsg.NewPtrDeleteGroupsRequest()
			req.Groups = []string{name}
			resp, err := req.RequestWith(ctx, cl)
			if err != nil {
				return nil, fmt.Errorf("deleting group %s: %w", name, err)
			}
			err = kerr.ErrorForCode(resp.Groups[0].ErrorCode)
			if err == nil || err == error(kerr.GroupIDNotFound) {
				break
			}
			if err != error(kerr.NonEmptyGroup) && !kerr.IsRetriable(err) || !pause(ctx) {
				return nil, fmt.Errorf("deleting group %s: %w", name, err)
			}
		}
	}
	return names, nil
}
