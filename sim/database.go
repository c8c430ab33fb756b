package sim

import (
	"slices"

	"github.com/hopcheck/hopcheck/model"
	"github.com/hopcheck/hopcheck/sim/database"
	"github.com/hopcheck/hopcheck/sim/schedule"
	"github.com/hopcheck/hopcheck/sim/tap"
)

// connect gives l its session of the world's database, if there is one. It ends with
// the life.
func (r *run) connect(l *life) {
	if r.database != nil {
		l.session = r.database.Session()
		l.ends.add(l.session.Close)
	}
}

// tapped returns the database as the life sees it, nil for none.
func (l *life) tapped() tap.Database {
	if l.session == nil {
		return nil
	}
	return tap.NewDatabase(l.tap, l.session)
}

// hurt does to the database server what the schedule says, and returns the slot's
// confirmed position after it.
func (r *run) hurt(how string) string {
	if r.database == nil {
		return ""
	}
	r.database.Failover(how == schedule.LosesSlot)
	return r.database.Slot().Confirmed
}

// databaseVerb is the verb that means nothing in a world without a database.
const databaseVerb = "database"

// verbs returns the names of the verbs that make sense in w.
func (w World) verbs() []string {
	if len(w.Verbs) > 0 || w.Database != nil {
		return w.Verbs
	}
	return slices.DeleteFunc(schedule.VerbNames(), func(name string) bool {
		return name == databaseVerb
	})
}

// auditDatabase records what is in the tables, and how the slot stands.
func (r *run) auditDatabase() {
	if r.database == nil {
		return
	}
	for _, e := range r.database.Enrollments() {
		part := model.PartOf(tap.Enrollments, 0)
		key := e.Learner + "/" + e.Course
		part.Records = []model.Record{{Offset: -1, ID: e.LSN, Key: key, Cell: e.Op}}
		r.observe(model.Event{Op: "row", Key: key, LSN: e.LSN, Parts: []model.Part{part}})
	}
	for _, o := range r.database.Outbox() {
		part := model.PartOf(tap.Outbox, 0)
		part.Records = []model.Record{{Offset: o.ID, ID: o.Source, Key: o.Key, Cell: o.Op}}
		published := model.Count{Of: "published"}
		if o.Done {
			published.N = 1
		}
		r.observe(model.Event{
			Op: "outbox", Key: o.Key, LSN: o.Commit,
			Parts: []model.Part{part}, Counts: []model.Count{published},
		})
	}
	r.observe(slotEvent(r.database.Slot()))
}

func slotEvent(s database.SlotInfo) model.Event {
	return model.Event{
		Op: "slot", Key: "slot", LSN: s.Confirmed, Note: s.State,
		Counts: []model.Count{{Of: "retained", N: s.Retained}, {Of: "lag", N: s.Lag}},
	}
}
