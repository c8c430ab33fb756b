package pgstore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pglogrepl"
)

// position is a place in the write-ahead log, and a change inside the transaction that
// committed there. Its text sorts as its order: 16 upper-case hex digits of the LSN, "/",
// 8 hex digits that count from 1; 0 is before every change of that commit.
type position struct {
	lsn pglogrepl.LSN
	nth uint32
}

// text returns "" for the zero position, which means none.
func (p position) text() string {
	if p == (position{}) {
		return ""
	}
	return fmt.Sprintf("%016X/%08X", uint64(p.lsn), p.nth)
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.lsn, q.lsn), cmp.Compare(p.nth, q.nth))
}

func later(p, q position) position {
	if p.compare(q) < 0 {
		return q
	}
	return p
}

func parsePosition(s string) (position, error) {
	if s == "" {
		return position{}, nil
	}
	l, n, ok := strings.Cut(s, "/")
	lsn, err := strconv.ParseUint(l, 16, 64)
	nth, err2 := strconv.ParseUint(n, 16, 32)
	p := position{pglogrepl.LSN(lsn), uint32(nth)}
	if !ok || err != nil || err2 != nil || p != (position{}) && p.text() != s {
		return position{}, fmt.Errorf("postgres: %q is no position; "+
			"want 16 upper-case hex digits, \"/\" and 8 more", s)
	}
	return p, nil
}

// valueOf is a change as it is published.
func valueOf(learner, course, op, lsn string) []byte {
	value, err := json.Marshal(struct {
		Learner string `json:"learner_id"`
		Course  string `json:"course_id"`
		Op      string `json:"op"`
		LSN     string `json:"source_lsn"`
	}{learner, course, op, lsn})
	if err != nil {
		panic("pgstore: a change does not marshal: " + err.Error()) // strings alone
	}
	return value
}
