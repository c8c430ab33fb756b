package database

import (
	"fmt"
	"strconv"
	"strings"
)

// position is a place in the write-ahead log, and a change inside the transaction
// that committed there. Its text sorts as its order: 16 upper-case hex digits of the
// LSN, "/", 8 hex digits that count from 1; 0 is before every change of that commit.
type position struct {
	lsn uint64
	nth uint32
}

// text returns "" for the zero position, which means none.
func (p position) text() string {
	if p == (position{}) {
		return ""
	}
	return fmt.Sprintf("%016X/%08X", p.lsn, p.nth)
}

func parsePosition(s string) (position, error) {
	if s == "" {
		return position{}, nil
	}
	l, n, ok := strings.Cut(s, "/")
	lsn, err := strconv.ParseUint(l, 16, 64)
	nth, err2 := strconv.ParseUint(n, 16, 32)
	p := position{lsn, uint32(nth)}
	if !ok || err != nil || err2 != nil || p != (position{}) && p.text() != s {
		return position{}, fmt.Errorf("database: %q is no position; "+
			"want 16 upper-case hex digits, \"/\" and 8 more", s)
	}
	return p, nil
}
