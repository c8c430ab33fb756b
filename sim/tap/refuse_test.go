package tap

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

// saysEverywhere reports what an event leaves out of an error.
func saysEverywhere(t *testing.T, e model.Event, code string) {
	t.Helper()
	if e.Err == code {
		return
	}
	if e.Err != "" || len(e.Parts) == 0 {
		t.Errorf("the reply says %q for %s", said(e), code)
	}
	for _, p := range e.Parts {
		if p.Err != code {
			t.Errorf("partition %s/%d says %q, not %s", p.Topic, p.Partition, p.Err, code)
		}
	}
}

// rightFrame decodes a made-up frame as a client would: the whole, with its
// correlation id, and nothing left over.
func rightFrame(t *testing.T, s sent, frame []byte) {
	t.Helper()
	frames, rest := cut(frame)
	if len(frames) != 1 || len(rest) != 0 || correlation(frame) != s.corr {
		t.Fatalf("not one reply to %d: % x", s.corr, frame)
	}
	resp := s.response(frame)
	if resp == nil {
		t.Fatalf("the made-up reply cannot be decoded: % x", frame)
	}
	if diff := cmp.Diff(replyFrame(resp, s.version, s.corr), frame); diff != "" {
		t.Errorf("the made-up reply is not what a broker would send (-want +got):\n%s", diff)
	}
}

// TestRefuse makes up the reply of every API that can refuse, in every version.
func TestRefuse(t *testing.T) {
	const code = "NOT_COORDINATOR"
	n := newTestNames()
	for _, x := range corpus(t) {
		for _, v := range x.versions {
			s, asked := n.decodeRequest(requestFrame(x.req, v, 1<<20))
			frame := s.refuse(code)
			if apis[s.key].fail == nil {
				if frame != nil {
					t.Errorf("%s v%d: refused, although nobody knows how", x.name, v)
				}
				continue
			}
			rightFrame(t, s, frame)
			e := n.decodeReply(s, frame)
			saysEverywhere(t, e, code)
			if len(e.Parts) != 0 && len(e.Parts) != len(asked.Parts) && s.key != 9 {
				t.Errorf("%s v%d: %d partitions, not the %d asked", x.name, v,
					len(e.Parts), len(asked.Parts))
			}
			for _, name := range []string{"", "NO_SUCH_ERROR", "not_coordinator", "unavailable"} {
				if s.refuse(name) != nil {
					t.Errorf("%s v%d: refused with %q", x.name, v, name)
				}
			}
		}
	}
}

// TestSpoil puts an error into the real reply of every API.
func TestSpoil(t *testing.T) {
	const code = "REQUEST_TIMED_OUT"
	n := newTestNames()
	for _, x := range corpus(t) {
		for _, v := range x.versions {
			s, _ := n.decodeRequest(requestFrame(x.req, v, 3))
			given := replyFrame(x.resp, v, 3)
			whole := n.decodeReply(s, given)
			frame := s.spoil(given, code)
			if apis[s.key].fail == nil {
				if frame != nil {
					t.Errorf("%s v%d: spoiled, although nobody knows how", x.name, v)
				}
				continue
			}
			rightFrame(t, s, frame)
			e := n.decodeReply(s, frame)
			saysEverywhere(t, e, code)
			if len(e.Parts) != len(whole.Parts) && s.key != 9 {
				t.Errorf("%s v%d: %d partitions of %d", x.name, v, len(e.Parts), len(whole.Parts))
			}
			if s.spoil(given, "NO_SUCH_ERROR") != nil || s.spoil(given[:9], code) != nil {
				t.Errorf("%s v%d: spoiled with an unknown error, or a torn reply", x.name, v)
			}
		}
	}
}

// TestErrorNames: what the protocol has, both ways.
func TestErrorNames(t *testing.T) {
	for code := int16(-1); code < 140; code++ {
		name := errorName(code)
		if code == 0 {
			if name != "" {
				t.Errorf("no error is called %q", name)
			}
			continue
		}
		back, ok := errorCode(name)
		if e := kerr.TypedErrorForCode(code); !ok || back != e.Code {
			t.Errorf("%d is %s, which is %d, %v", code, name, back, ok)
		}
	}
	if got := errorName(9999); got != "UNKNOWN_SERVER_ERROR" {
		t.Errorf("an unknown code is called %q", got)
	}
}

// TestUnreadableRequests: a frame that says too little, or too much.
func TestUnreadableRequests(t *testing.T) {
	beat := requestFrame(kmsg.NewPtrHeartbeatRequest(), 4, 9)
	change := func(at int, b byte) []byte {
		f := append([]byte(nil), beat...)
		f[at] = b
		return f
	}
	for _, x := range []struct {
		name    string
		frame   []byte
		want    string
		replies bool
	}{
		{"empty", []byte{0, 0, 0, 0}, "request frame err=undecodable", false},
		{"no header", beat[:11], "request frame err=undecodable", false},
		{"no client id", beat[:12], "request Heartbeat err=undecodable", true},
		{"no body", beat[:19], "request Heartbeat err=undecodable", true},
		{"unknown API", change(4, 0x7f), "request frame err=undecodable", true},
		{"unknown version", change(7, 5), "request Heartbeat err=undecodable", true},
		{"negative version", change(6, 0xff), "request Heartbeat err=undecodable", true},
	} {
		n := newTestNames()
		s, e := n.decodeRequest(x.frame)
		if diff := cmp.Diff(x.want, said(e)); diff != "" || e.Bytes != int64(len(x.frame)) {
			t.Errorf("%s: %d bytes, event (-want +got):\n%s", x.name, e.Bytes, diff)
		}
		if s.replies != x.replies {
			t.Errorf("%s: a reply is expected: %v", x.name, s.replies)
		}
		reply := replyFrame(kmsg.NewPtrHeartbeatResponse(), 4, 9)
		check(t, "reply frame done err=undecodable", n.decodeReply(s, reply), reply)
		if s.refuse("NOT_COORDINATOR") != nil || s.spoil(reply, "NOT_COORDINATOR") != nil {
			t.Errorf("%s: answered with an error", x.name)
		}
	}
}
