package tap

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/model"
)

// FuzzDecode reads arbitrary bytes as a request and its reply. Decoding never fails:
// what cannot be read is an event that says so, and says how long it was. The frames
// that are made up for it are ones that decode.
func FuzzDecode(f *testing.F) {
	for _, x := range corpus(f) {
		for _, v := range x.versions {
			f.Add(requestFrame(x.req, v, 7), replyFrame(x.resp, v, 7))
		}
	}
	f.Add([]byte{}, []byte{})
	f.Add([]byte{0, 0, 0, 0}, []byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, request, reply []byte) {
		n := newTestNames()
		s, asked := n.decodeRequest(request)
		readable(t, asked, len(request), s.req != nil)
		answer := n.decodeReply(s, reply)
		readable(t, answer, len(reply), s.response(reply) != nil)
		const code = "NOT_COORDINATOR"
		for _, made := range [][]byte{s.refuse(code), s.spoil(reply, code)} {
			if made != nil && n.decodeReply(s, made).Err == undecodable {
				t.Errorf("a made-up reply cannot be decoded: % x", made)
			}
		}
		n.Rename(&asked)
		n.Rename(&answer)
		// An event that cannot be written down cannot be judged again.
		for _, e := range []model.Event{asked, answer} {
			e.Seq = 1
			again, err := model.ParseText(string(model.AppendText(nil, &e)))
			if err != nil {
				t.Fatalf("reading back %+v: %v", e, err)
			}
			if diff := cmp.Diff(said(e), said(again)); diff != "" {
				t.Errorf("written and read (-want +got):\n%s", diff)
			}
		}
	})
}

func readable(t *testing.T, e model.Event, size int, decoded bool) {
	t.Helper()
	if e.Bytes != int64(size) || e.Op == "" {
		t.Errorf("a frame of %d bytes gave %+v", size, e)
	}
	if decoded == (e.Err == undecodable) {
		t.Errorf("decoded: %v, event: %+v", decoded, e)
	}
}
