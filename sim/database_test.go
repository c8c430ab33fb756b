package sim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hopcheck/hopcheck/sim/contract"
	"github.com/hopcheck/hopcheck/sim/database"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// TestDatabaseContract: the database in memory keeps what live mode's keeps.
func TestDatabaseContract(t *testing.T) {
	const keep = 1 << 20
	contract.Database(t, synctest.Test, func(*testing.T) contract.DatabaseServer {
		db := database.New(database.Config{Keep: keep})
		return contract.DatabaseServer{
			Session: func() (tap.Database, func()) {
				s := db.Session()
				return s, s.Close
			},
			Crash:      db.Crash,
			Checkpoint: db.Checkpoint,
			Overfill:   func() { db.Write(2 * keep) },
			DropSlot:   db.DropSlot,
			CreateSlot: db.CreateSlot,
			Wait:       time.Sleep,
			Soon:       2 * time.Second,
		}
	})
}
