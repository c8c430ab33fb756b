package tap

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/hopcheck/hopcheck/model"
)

// api is what the boundary knows of one Kafka API beyond its name.
type api struct {
	// request and reply say what a frame means. The reply's event is about the
	// same partitions as its request's: an answer can be read by itself.
	request func(*Names, kmsg.Request, *model.Event)
	reply   func(*Names, kmsg.Request, kmsg.Response, *model.Event)
	// blank makes an empty reply that names every partition of the request, and
	// fail puts an error code everywhere in a reply. Without them an error cannot
	// be injected.
	blank func(kmsg.Request, kmsg.Response)
	fail  func(kmsg.Response, int16)
}

// apis is filled by the init functions of the api_*.go files.
var apis = map[int16]api{}

func register(key int16, a api) {
	if _, ok := apis[key]; ok {
		panic(fmt.Sprintf("tap: API %s is registered twice", kmsg.NameForKey(key)))
	}
	apis[key] = a
}

// sent is a request that awaits its reply.
type sent struct {
	key, version int16
	corr         int32
	req          kmsg.Request // nil where it could not be decoded
	replies      bool         // false for a Produce with acks=0
	crossing     *Crossing    // the request itself
}

const undecodable = "undecodable"

// decodeRequest reads a request frame. It never fails: what cannot be decoded is
// an event that says so.
func (n *Names) decodeRequest(frame []byte) (sent, model.Event) {
	e := newEvent(model.Request, "frame", len(frame))
	s := sent{key: -1, corr: -1, replies: true}
	if len(frame) < 12 {
		e.Err = undecodable
		s.replies = false
		return s, e
	}
	r := kbin.Reader{Src: frame[4:]}
	s.key, s.version, s.corr = r.Int16(), r.Int16(), r.Int32()
	r.NullableString() // client id: the event names the process already
	req := kmsg.RequestForKey(s.key)
	if req == nil {
		e.Err = undecodable
		return s, e
	}
	e.Op = kmsg.NameForKey(s.key)
	req.SetVersion(s.version)
	if req.IsFlexible() {
		kmsg.SkipTags(&r)
	}
	known := s.version >= 0 && s.version <= req.MaxVersion()
	if !r.Ok() || !known || req.ReadFrom(r.Src) != nil {
		e.Err = undecodable
		return s, e
	}
	s.req = req
	if p, ok := req.(*kmsg.ProduceRequest); ok && p.Acks == 0 {
		s.replies = false
	}
	if a, ok := apis[s.key]; ok && a.request != nil {
		a.request(n, req, &e)
	}
	return s, e
}

// decodeReply reads the reply frame to s.
func (n *Names) decodeReply(s sent, frame []byte) model.Event {
	e := newEvent(model.Reply, "frame", len(frame))
	e.Outcome = model.Done
	if s.key >= 0 && s.req != nil {
		e.Op = kmsg.NameForKey(s.key)
	}
	resp := s.response(frame)
	if resp == nil {
		e.Err = undecodable
		return e
	}
	if a, ok := apis[s.key]; ok && a.reply != nil {
		a.reply(n, s.req, resp, &e)
	}
	return e
}

// response decodes the body of a reply frame, or returns nil.
func (s sent) response(frame []byte) kmsg.Response {
	if s.req == nil || len(frame) < 8 {
		return nil
	}
	resp := s.req.ResponseKind()
	resp.SetVersion(s.version)
	r := kbin.Reader{Src: frame[8:]}
	if s.key == kmsg.ApiVersions.Int16() && tooNew(r) {
		resp.SetVersion(0)
	}
	if flexibleReply(resp) {
		kmsg.SkipTags(&r)
	}
	if !r.Ok() || resp.ReadFrom(r.Src) != nil {
		return nil
	}
	return resp
}

// refuse makes the reply frame of a broker that refuses s with the named error,
// or nil where this API has no place for one.
func (s sent) refuse(code string) []byte {
	a, ok := apis[s.key]
	number, known := errorCode(code)
	if !ok || !known || s.req == nil || a.fail == nil {
		return nil
	}
	resp := s.req.ResponseKind()
	resp.SetVersion(s.version)
	if a.blank != nil {
		a.blank(s.req, resp)
	}
	a.fail(resp, number)
	return s.frame(resp)
}

// spoil makes the reply in frame say the named error, or returns nil where it
// cannot.
func (s sent) spoil(frame []byte, code string) []byte {
	a, ok := apis[s.key]
	number, known := errorCode(code)
	resp := s.response(frame)
	if !ok || !known || resp == nil || a.fail == nil {
		return nil
	}
	a.fail(resp, number)
	return s.frame(resp)
}

func (s sent) frame(resp kmsg.Response) []byte {
	b := make([]byte, 8, 64)
	binary.BigEndian.PutUint32(b[4:], uint32(s.corr))
	if flexibleReply(resp) {
		b = append(b, 0) // no tagged fields in the header
	}
	b = resp.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// flexibleReply reports whether the header of resp has tagged fields. That of
// ApiVersions never has, so that a client can read it before it knows versions
// (KIP-511).
func flexibleReply(resp kmsg.Response) bool {
	return resp.IsFlexible() && resp.Key() != kmsg.ApiVersions.Int16()
}

// tooNew reports whether an ApiVersions reply says that the broker does not know the
// version that it was asked in. It then answers in version 0, which every client can
// read (KIP-511).
func tooNew(body kbin.Reader) bool {
	return body.Int16() == kerr.UnsupportedVersion.Code
}

func newEvent(k model.Kind, op string, bytes int) model.Event {
	return model.Event{Kind: k, Op: op, Bytes: int64(bytes)}
}

// conclude sets what may be concluded from a reply that carries an error code. Where
// one part of a reply leaves it open what happened, so does the reply.
func conclude(e *model.Event, code int16) {
	switch {
	case code == 0:
	case open[kerr.TypedErrorForCode(code)]:
		e.Outcome = model.Unknown
	case e.Outcome != model.Unknown:
		e.Outcome = model.NotDone
	}
}

// open holds the errors after which the request may have been applied all the same.
// A leader that steps down while it waits for its followers has appended already, and
// a coordinator reports what its log answered under names of its own.
var open = map[*kerr.Error]bool{
	kerr.UnknownServerError:           true, // also what an unknown code is read as
	kerr.RequestTimedOut:              true,
	kerr.NetworkException:             true,
	kerr.NotEnoughReplicasAfterAppend: true,
	kerr.NotLeaderForPartition:        true,
	kerr.DuplicateSequenceNumber:      true, // an earlier try appended it
	kerr.CoordinatorNotAvailable:      true,
	kerr.NotCoordinator:               true,
}

// errorName returns the protocol's name for an error code, "" for none.
func errorName(code int16) string {
	if code == 0 {
		return ""
	}
	return kerr.TypedErrorForCode(code).Message
}

// errorCode returns the number of a protocol error. The table is made from
// kerr's own, which is keyed by number.
func errorCode(name string) (int16, bool) {
	code, ok := errorCodes[name]
	return code, ok
}

var errorCodes = func() map[string]int16 {
	codes := make(map[string]int16)
	for code := int16(-1); code < 256; code++ {
		if e := kerr.TypedErrorForCode(code); e != nil && e.Code == code {
			codes[e.Message] = code
		}
	}
	return codes
}()
