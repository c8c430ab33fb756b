package mutants

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/hops"
	"github.com/hopcheck/hopcheck/props"
)

func init() {
	register(Mutant{
		Name: "put-in-transaction", Case: "S6",
		Says: "each batch is also put into the object store before its transaction is " +
			"committed, as if the transaction held the object too",
		World:  withProcess(validatedOne(), "validated", copying{inside: putInside}.run),
		Breaks: props.NoExternalCallInTransaction().Name,
	})
}

// putInside stores a batch under the offset where it begins. An abort does not take
// the object back, and the batch that comes again may end elsewhere.
func putInside(ctx context.Context, c *copier, records []*kgo.Record) error {
	first := records[0]
	key := hops.ObjectKey(first.Topic, first.Partition, first.Offset)
	_, err := c.Objects.Put(ctx, key, hops.AppendBody(nil, linesOf(records)...))
	return err // the mistake: it is done, whatever becomes of the transaction
}
