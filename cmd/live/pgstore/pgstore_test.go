package pgstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"
)

// What needs a server is tested with one, by the tests of live.

func TestPrefix(t *testing.T) {
	const url = "postgres://u:secret@127.0.0.1:1/d"
	for _, prefix := range []string{"r", "run_1", "a" + strings.Repeat("b", 39)} {
		if _, err := New(Config{URL: url, Prefix: prefix}); err != nil {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	for _, prefix := range []string{
		"", "1r", "_r", "Run", "r-1", `r"`, "r'", "r;", "r\n", "r r", "public", "pg_r",
		"information_schema", "a" + strings.Repeat("b", 40),
	} {
		if _, err := New(Config{URL: url, Prefix: prefix}); err == nil {
			t.Errorf("%q is taken as a prefix", prefix)
		}
	}
	for _, bad := range []string{"", url + "?sslmode=some", url + "x?connect_timeout=z"} {
		_, err := New(Config{URL: bad, Prefix: "r"})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestNamesAreQuoted(t *testing.T) {
	n, err := Config{Prefix: "user"}.names() // a word of SQL
	if err != nil {
		t.Fatal(err)
	}
	got := n.sql("drop publication PUBLICATION, AUDITED; select LOCK from SCHEMA.slot")
	want := `drop publication "user_changes", "user_audit"; select 'user/' from "user".slot`
	if got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestPosition(t *testing.T) {
	for _, s := range []string{"", "00000000016B3748/00000001", "FFFFFFFFFFFFFFFF/FFFFFFFF"} {
		p, err := parsePosition(s)
		if err != nil || p.text() != s {
			t.Errorf("%q became %q, %v", s, p.text(), err)
		}
	}
	for _, s := range []string{
		"0/1", "00000000016b3748/00000001", "00000000016B3748", "x", "/",
		"00000000016B3748/00000001 ", "+0000000016B3748/00000001",
	} {
		if _, err := parsePosition(s); err == nil {
			t.Errorf("%q is taken as a position", s)
		}
	}
	if a, b := (position{2, 0}), (position{1, 9}); later(a, b) != a || later(b, a) != a {
		t.Error("the later of two positions is not the one with the later commit")
	}
}

// TestUnknown: only the server's word that it did nothing is one.
func TestUnknown(t *testing.T) {
	answer := func(severity, code string) error {
		return &pgconn.PgError{SeverityUnlocalized: severity, Code: code, Message: "m"}
	}
	for _, x := range []struct {
		err  error
		want string // refusal
	}{
		{answer("ERROR", "40P01"), "deadlock"},
		{answer("ERROR", "25P02"), "aborted"},
		{answer("ERROR", "23505"), "sqlstate-23505"},
		{answer("FATAL", "57P01"), ""}, // may come when the commit is in the log
		{answer("PANIC", "XX000"), ""},
		{answer("ERROR", "40003"), ""},
		{answer("ERROR", "08006"), ""},
		{errors.New("connection reset"), ""},
		{context.DeadlineExceeded, ""},
	} {
		err := say("committing", fmt.Errorf("more: %w", x.err))
		var got *Error
		if errors.As(err, &got) != (x.want != "") || got != nil && got.Refusal() != x.want {
			t.Errorf("%v is %+v, not %q", x.err, got, x.want)
		}
		if x.want == "" && !errors.Is(err, x.err) {
			t.Errorf("%v has lost its cause", err)
		}
	}
	if say("x", nil) != nil {
		t.Error("no error has become one")
	}
}

// TestNoServer: what was not begun is an error, and no refusal; a store that is closed
// says so.
func TestNoServer(t *testing.T) {
	s, err := New(Config{URL: "postgres://u:secret@127.0.0.1:1/d?sslmode=disable", Prefix: "r"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Begin(t.Context())
	if err == nil || refused(err) != nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("without a server: %v", err)
	}
	if _, _, _, err := s.Next(t.Context()); !errors.Is(err, errNoStream) {
		t.Errorf("next without a stream: %v", err)
	}
	s.Close()
	if _, err := s.Begin(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("after its end: %v", err)
	}
}

// The messages of pgoutput, as its documentation has them.
func relation(id uint32, name string, columns ...string) []byte {
	m := binary.BigEndian.AppendUint32([]byte{'R'}, id)
	m = append(m, "s\x00"+name+"\x00d"...)
	m = binary.BigEndian.AppendUint16(m, uint16(len(columns)))
	for _, c := range columns {
		m = append(m, "\x00"+c+"\x00"+"\x00\x00\x00\x19"+"\xff\xff\xff\xff"...)
	}
	return m
}

func inserted(id uint32, values ...string) []byte {
	m := binary.BigEndian.AppendUint32([]byte{'I'}, id)
	m = binary.BigEndian.AppendUint16(append(m, 'N'), uint16(len(values)))
	for _, v := range values {
		if v == "unchanged" {
			m = append(m, 'u')
			continue
		}
		m = binary.BigEndian.AppendUint32(append(m, 't'), uint32(len(v)))
		m = append(m, v...)
	}
	return m
}

func began(lsn uint64) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{'B'}, lsn), make([]byte, 12)...)
}

func committedAt(lsn, end uint64) []byte {
	m := binary.BigEndian.AppendUint64([]byte{'C', 0}, lsn)
	return append(binary.BigEndian.AppendUint64(m, end), make([]byte, 8)...)
}

func TestDecoder(t *testing.T) {
	var d decoder
	columns := []string{"op", "course", "learner"} // in any order
	for i, m := range [][]byte{
		began(100), relation(7, "enrollment", columns...),
		inserted(7, "enrolled", "go", "l1"), inserted(7, "dropped", "go", "l2"),
	} {
		if c, err := d.take(m, pglogrepl.LSN(50+i)); c != nil || err != nil {
			t.Fatalf("message %d: %v, %v", i, c, err) // nothing before its commit
		}
	}
	c, err := d.take(committedAt(100, 148), 100)
	if err != nil || c == nil || c.lsn != 100 || c.end != 148 || len(c.changes) != 2 {
		t.Fatalf("the transaction is %+v, %v", c, err)
	}
	for i, learner := range []string{"l1", "l2"} {
		r := c.changes[i]
		if r.values["learner"] != learner || r.row != pglogrepl.LSN(52+i) || !r.insert {
			t.Errorf("change %d is %+v", i, r)
		}
	}
	// The server names a table once in a stream.
	_, err1 := d.take(began(200), 0)
	_, err2 := d.take(inserted(7, "enrolled", "go", "l3"), 150)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if c, err := d.take(committedAt(200, 248), 200); err != nil || len(c.changes) != 1 {
		t.Errorf("the second transaction is %+v, %v", c, err)
	}
}

// TestDecoderRefuses: what cannot be said whole is an error, and no part of a change.
func TestDecoderRefuses(t *testing.T) {
	table := relation(7, "enrollment", "learner", "course", "op")
	for name, messages := range map[string][][]byte{
		"a commit alone":         {committedAt(1, 2)},
		"a row of no table":      {began(1), inserted(8, "l", "c", "o")},
		"a row outside":          {table, inserted(7, "l", "c", "o")},
		"too few columns":        {table, began(1), inserted(7, "l", "c")},
		"a value that was left":  {table, began(1), inserted(7, "unchanged", "c", "o")},
		"a message that is torn": {began(1)[:9]},
		"no message":             {{}},
	} {
		t.Run(name, func(t *testing.T) {
			var d decoder
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("it panics: %v", r)
				}
			}()
			var err error
			for _, m := range messages {
				if _, err = d.take(m, 1); err != nil {
					return
				}
			}
			t.Error("it is taken")
		})
	}
}
