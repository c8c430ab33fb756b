package model

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAnyEventRoundTripsThroughText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent(t)
		line := string(AppendText(nil, &e))
		if strings.ContainsAny(line, "\n\r\t\x00") {
			t.Fatalf("a control byte in %q", line)
		}
		got, err := ParseText(line)
		if err != nil {
			t.Fatalf("%s\n%v", line, err)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Fatalf("%s\n%s", line, diff)
		}
	})
}

func TestAnyEventRoundTripsThroughJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent(t)
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var got Event
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%s\n%v", line, err)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Fatalf("%s\n%s", line, diff)
		}
	})
}

func TestAnyHistoryRoundTripsInBothForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := historyOf(append(listOf(t, anyEvent), anyEvent(t))...)
		if diff := bothForms(h); diff != "" {
			t.Fatal(diff)
		}
	})
}

// bothForms writes h and reads it back, once in each form, and says what differs.
func bothForms(h *History) string {
	for form, write := range forms {
		var b bytes.Buffer
		if err := write(h, &b); err != nil {
			return form + ": " + err.Error()
		}
		got, err := Read(&b)
		if err != nil {
			return form + ": " + err.Error()
		}
		if diff := cmp.Diff(h.Events(), got.Events()); diff != "" {
			return form + ": " + diff
		}
		if got.Digest() != h.Digest() {
			return form + ": another digest"
		}
	}
	return ""
}

var forms = map[string]func(*History, *bytes.Buffer) error{
	"text":       func(h *History, b *bytes.Buffer) error { return h.WriteText(b) },
	"JSON Lines": func(h *History, b *bytes.Buffer) error { return h.WriteJSONL(b) },
}

// changes calls visit once for every field of an event, part, record and
// position, each time with another event in which just that field has changed.
func changes(t *testing.T, visit func(field string, e Event)) {
	whole := func() Event {
		return Event{
			Kind: Reply, Parts: []Part{{Records: []Record{{From: Position{Topic: "x"}}}}},
			Counts: []Count{{}},
		}
	}
	reach := map[string]func(e *Event) any{
		"Event":    func(e *Event) any { return e },
		"Part":     func(e *Event) any { return &e.Parts[0] },
		"Record":   func(e *Event) any { return &e.Parts[0].Records[0] },
		"Count":    func(e *Event) any { return &e.Counts[0] },
		"Position": func(e *Event) any { return &e.Parts[0].Records[0].From },
	}
	for of, into := range reach {
		e := whole()
		for i := range reflect.TypeOf(into(&e)).Elem().NumField() {
			e := whole()
			v := reflect.ValueOf(into(&e)).Elem()
			f, name := v.Field(i), v.Type().Field(i).Name
			switch {
			case name == "Kind" && of == "Event":
				f.SetString(string(Call))
			case name == "Kind":
				f.SetString(string(Hole))
			case name == "Outcome":
				f.SetString(string(Unknown))
			case f.Kind() == reflect.String:
				f.SetString("changed")
			case f.CanInt():
				f.SetInt(7)
			case name == "Parts", name == "Records", name == "Counts":
				f.SetZero()
			case name == "From":
				f.SetZero()
			default:
				t.Fatalf("%s.%s: this test does not know how to change it", of, name)
			}
			visit(of+"."+name, e)
		}
	}
}

// A field that someone adds and forgets in text.go or json.go fails here.
func TestEveryFieldIsWritten(t *testing.T) {
	changes(t, func(field string, e Event) {
		got, err := ParseText(string(AppendText(nil, &e)))
		if err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("%s is lost in the text form: %s", field, diff)
		}
		e.Seq = 1
		if diff := bothForms(historyOf(e)); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	})
}

func TestDigest(t *testing.T) {
	seen := map[string]string{}
	changes(t, func(field string, e Event) {
		if field == "Event.Seq" {
			return // Append gives it
		}
		h, again := historyOf(e, e), historyOf(e, e)
		if h.Digest() != again.Digest() {
			t.Errorf("%s: the same events, two digests", field)
		}
		if len(h.Digest()) != 16 {
			t.Errorf("digest %q has not 16 digits", h.Digest())
		}
		if other, ok := seen[h.Digest()]; ok {
			t.Errorf("a change of %s and one of %s have the same digest", field, other)
		}
		seen[h.Digest()] = field
	})
	short := historyOf(Event{Kind: Start})
	before := short.Digest()
	short.Append(Event{Kind: Exit})
	if short.Digest() == before || new(History).Digest() == before {
		t.Error("one more event, and the digest stays the same")
	}
}
