package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// page is how many keys are asked for at once.
const page = 1000

// Observe reads everything and returns it as events of kind [model.Observe], without Seq
// and At, producers by their real ids. Names knows what the run's taps know.
func (r *Reader) Observe(ctx context.Context, names *tap.Names) ([]model.Event, error) {
	var all []model.Event
	for _, t := range r.world.Topics {
		for p := range t.Partitions {
			part, err := r.partition(ctx, names, r.names.Of(t.Name), p)
			if err != nil {
				return nil, fmt.Errorf("reading %s/%d: %w", r.names.Of(t.Name), p, err)
			}
			all = append(all, model.Event{Op: "log", Parts: []model.Part{part}})
		}
	}
	for _, group := range r.world.Groups {
		offsets, err := r.offsets(ctx, group)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(offsets, func(a, b committed) int {
			return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
		})
		for _, c := range offsets {
			part := model.PartOf(c.topic, c.partition)
			part.Offset = c.offset
			all = append(all, model.Event{Op: "commit", Group: group, Parts: []model.Part{part}})
		}
	}
	objects, err := r.objects(ctx)
	if err != nil {
		return nil, err
	}
	all = append(all, objects...)
	for i := range all {
		all[i].Kind = model.Observe
		r.names.PlainEvent(&all[i])
	}
	return all, nil
}

// objects reads every object that the listing names.
func (r *Reader) objects(ctx context.Context) ([]model.Event, error) {
	var all []model.Event
	describe := r.names.Describe(r.world)
	for after := ""; ; {
		keys, err := r.store.List(ctx, "", after, page)
		if err != nil {
			return nil, err
		}
		if len(keys) == 0 {
			return all, nil
		}
		for _, key := range keys {
			body, etag, err := r.store.Get(ctx, key)
			if err != nil {
				return nil, err
			}
			e := model.Event{
				Op: "object", Key: key, ETag: etag, Digest: tap.Digest(body),
				Bytes: int64(len(body)),
			}
			if describe != nil {
				e.Parts, e.Counts = describe(key, body)
			}
			all = append(all, e)
		}
		after = keys[len(keys)-1]
	}
}

// partition reads a whole partition, uncommitted and control records included.
func (r *Reader) partition(
	ctx context.Context, names *tap.Names, name string, partition int32,
) (model.Part, error) {
	part := model.PartOf(name, partition)
	for at := int64(0); ; {
		rp, err := r.fetch(ctx, name, partition, at)
		if kerr.IsRetriable(err) && pause(ctx) {
			continue // the leader moved
		}
		if err != nil {
			return part, err
		}
		if part.Offset < 0 {
			part.Offset = rp.LogStartOffset
		}
		part.End, part.Stable = rp.HighWatermark, rp.LastStableOffset
		if rp.ErrorCode == kerr.OffsetOutOfRange.Code && at < rp.LogStartOffset {
			at = rp.LogStartOffset // retention took the beginning
			continue
		}
		if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
			return part, err
		}
		for _, rec := range names.Records(name, rp.RecordBatches) {
			if rec.Offset >= at { // a batch comes whole
				part.Records = append(part.Records, rec)
				at = rec.Offset + 1
			}
		}
		if at >= rp.HighWatermark {
			markAborted(part.Records)
			return part, nil
		}
		if ctx.Err() != nil {
			return part, fmt.Errorf("at offset %d of %d: %w", at, rp.HighWatermark, ctx.Err())
		}
	}
}

// fetch asks the leader, outside any fetch session, for committed and uncommitted
// records.
func (r *Reader) fetch(
	ctx context.Context, name string, partition int32, at int64,
) (kmsg.FetchResponseTopicPartition, error) {
	const most, wait = 8 << 20, 500
	var none kmsg.FetchResponseTopicPartition
	known, err := r.topics(ctx)
	if err != nil {
		return none, err
	}
	t := known[name]
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.MinBytes, req.MaxWaitMillis = most, 1, wait
	req.SessionEpoch, req.IsolationLevel = -1, 0
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = t.name, t.id
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes = partition, at, most
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := r.client.Broker(int(t.leaders[partition])).RetriableRequest(ctx, req)
	if err != nil {
		return none, err
	}
	f := resp.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(f.ErrorCode); err != nil {
		return none, err
	}
	if len(f.Topics) != 1 || len(f.Topics[0].Partitions) != 1 {
		return none, fmt.Errorf("the reply is about other partitions")
	}
	got := f.Topics[0].Partitions[0]
	if got.ErrorCode != kerr.OffsetOutOfRange.Code {
		err = kerr.ErrorForCode(got.ErrorCode)
	}
	return got, err
}

// markAborted says of every data record whether its transaction was aborted: its
// producer's next marker tells.
func markAborted(records []model.Record) {
	next := make(map[int64]model.RecordKind) // by producer
	for i := len(records) - 1; i >= 0; i-- {
		rec := &records[i]
		switch {
		case rec.Kind == model.AbortMarker || rec.Kind == model.CommitMarker:
			next[rec.Producer] = rec.Kind
		case rec.Kind == model.Data && next[rec.Producer] == model.AbortMarker:
			rec.Kind = model.Aborted
		}
	}
}
