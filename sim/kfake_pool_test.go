//go:build synctests

package sim

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kfake"
)

// TestEmptyPool draws topic ids twice under one seed, the second time after others
// were drawn: a run's ids must not depend on what the process ran before.
func TestEmptyPool(t *testing.T) {
	draw := func(seed uint64, topics int) (first [16]byte) {
		synctest.Test(t, func(t *testing.T) {
			defer seedRandomness(seed)()
			var network kfake.VirtualNetwork
			c := kfake.MustCluster(kfake.Ports(9092), kfake.ListenFn(network.Listen))
			defer c.Close()
			for i := range topics {
				name := fmt.Sprintf("t%d", i)
				if err := c.CreateTopic(name, 1, nil); err != nil {
					t.Fatal(err)
				}
			}
			first = c.TopicInfo("t0").TopicID
		})
		return first
	}
	one := draw(1, 3)
	draw(2, 17)
	if again := draw(1, 3); again != one {
		t.Errorf("first topic id %x, then %x", one, again)
	}
	if other := draw(2, 1); other == one {
		t.Errorf("two seeds, one topic id %x", one)
	}
}
