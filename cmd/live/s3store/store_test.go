package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/hopcheck/hopcheck/sim/tap"
)

var _ tap.Store = (*Store)(nil)

// wire answers requests from a list, and notes them.
type wire struct {
	t       *testing.T
	answers []answer
	seen    []string
}

// answer is a status with a body or an entity tag; status 0 is a lost connection.
type answer struct {
	status int
	body   string
	etag   string
}

var errLost = errors.New("connection reset by peer")

func (w *wire) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			w.t.Error(err)
		}
	}
	line := req.Method + " " + req.URL.Path
	for _, header := range []string{"If-Match", "If-None-Match"} {
		if v := req.Header.Get(header); v != "" {
			line += " " + header + ": " + v
		}
	}
	w.seen = append(w.seen, line)
	if len(w.answers) == 0 {
		w.t.Errorf("one request too many: %s", line)
		return nil, errLost
	}
	a := w.answers[0]
	w.answers = w.answers[1:]
	if a.status == 0 {
		return nil, errLost
	}
	resp := &http.Response{
		StatusCode: a.status, Header: http.Header{}, Request: req,
		Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: int64(len(a.body)),
	}
	if a.etag != "" {
		resp.Header.Set("ETag", a.etag)
	}
	return resp, nil
}

func says(status int, code string) answer {
	return answer{status: status, body: "<Error><Code>" + code + "</Code></Error>"}
}

func storeOn(t *testing.T, w *wire) *Store {
	t.Helper()
	w.t = t
	s, err := New(configOf(w))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func configOf(client s3.HTTPClient) Config {
	return Config{
		Endpoint: "http://s3.test", Region: "r", Bucket: "b", Prefix: "run/", Client: client,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "a secret"}, nil
		}),
	}
}

// The entity tags of two bodies.
var (
	tagOfOne = `"` + digest([]byte("one")) + `"`
	tagOfTwo = `"` + digest([]byte("two")) + `"`
)

// try is what came of a conditional put.
type try struct {
	OK      bool
	Tag     string
	Unknown bool // an error, and no refusal in it
	Refusal string
}

func putIf(t *testing.T, s *Store, body, etag string) try {
	t.Helper()
	ok, tag, err := s.PutIf(t.Context(), "k", []byte(body), etag)
	got := try{OK: ok, Tag: tag}
	var e *Error
	if errors.As(err, &e) {
		got.Refusal = e.Refusal()
		got.Unknown = got.Refusal == ""
	} else if err != nil {
		t.Fatalf("an error of another kind: %v", err)
	}
	return got
}

// TestConditionalPut has what can come back for one, and for its repetition.
func TestConditionalPut(t *testing.T) {
	lost, unknown := answer{}, []try{{Unknown: true}}
	for _, test := range []struct {
		name    string
		answers []answer
		etag    string
		want    []try // of one put after the other, of the body "one"
	}{
		{"done", []answer{{200, "", tagOfOne}}, "", []try{{OK: true, Tag: tagOfOne}}},
		{"refused", []answer{says(412, "PreconditionFailed")}, "", []try{{}}},
		{"refused, for there is none", []answer{says(404, "NoSuchKey")}, tagOfTwo, []try{{}}},
		{"no bucket", []answer{says(404, "NoSuchBucket")}, "", []try{{Refusal: "NoSuchBucket"}}},
		{"read-only", []answer{says(403, "AccessDenied")}, "", []try{{Refusal: "AccessDenied"}}},
		{
			"another is under way", []answer{says(409, "ConditionalRequestConflict")}, "",
			[]try{{Refusal: "ConditionalRequestConflict"}},
		},
		{"reply lost, and it is there", []answer{lost, {200, "", tagOfOne}}, "", []try{
			{OK: true, Tag: tagOfOne},
		}},
		{
			"server's error, and it is there",
			[]answer{says(500, "InternalError"), {200, "", tagOfOne}}, tagOfTwo,
			[]try{{OK: true, Tag: tagOfOne}},
		},
		{"reply lost, and another is there", []answer{lost, {200, "", tagOfTwo}}, "", unknown},
		{"reply lost, and none is there", []answer{lost, {404, "", ""}}, "", unknown},
		{"all lost", []answer{lost, lost}, "", unknown},
		{"server full", []answer{says(507, "InsufficientStorage"), {404, "", ""}}, "", unknown},
		{
			"412 after unknown is its own", []answer{
				lost, lost, says(412, "PreconditionFailed"), {200, "", tagOfOne},
			}, "",
			[]try{{Unknown: true}, {OK: true, Tag: tagOfOne}},
		},
		{
			"412 after unknown is another's", []answer{
				lost, lost, says(412, "PreconditionFailed"), {200, "", tagOfTwo},
			}, "",
			[]try{{Unknown: true}, {}},
		},
		{
			"412 after unknown cannot be told", []answer{
				lost, lost, says(412, "PreconditionFailed"), lost,
			}, "",
			[]try{{Unknown: true}, {Unknown: true}},
		},
		{
			"412 after unknown and done", []answer{
				lost, lost, {200, "", tagOfOne}, says(412, "PreconditionFailed"),
			}, "",
			[]try{{Unknown: true}, {OK: true, Tag: tagOfOne}, {}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &wire{answers: test.answers}
			s := storeOn(t, w)
			var got []try
			for range test.want {
				got = append(got, putIf(t, s, "one", test.etag))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(w.answers) > 0 {
				t.Errorf("did not ask for %v", w.answers)
			}
		})
	}
}

// TestRequests has what is sent: one request a call, with its condition.
func TestRequests(t *testing.T) {
	w := &wire{answers: []answer{
		{}, says(503, "SlowDown"), {200, "", tagOfOne}, {200, "", tagOfTwo}, says(404, "NoSuchKey"),
		{204, "", ""}, {200, "x", tagOfOne},
	}}
	s := storeOn(t, w)
	for range 2 { // the AWS client would send each three times
		if _, err := s.Put(t.Context(), "k", []byte("one")); err == nil {
			t.Error("a put without an answer has no error")
		}
	}
	putIf(t, s, "one", "")
	putIf(t, s, "two", tagOfOne)
	if _, _, err := s.Get(t.Context(), "a/b c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("get of nothing: %v", err)
	}
	if err := s.Delete(t.Context(), "k"); err != nil {
		t.Error(err)
	}
	body, tag, err := s.Get(t.Context(), "k")
	if string(body) != "x" || tag != tagOfOne || err != nil {
		t.Errorf("get: %q, %q, %v", body, tag, err)
	}
	want := []string{
		"PUT /b/run/k", "PUT /b/run/k", "PUT /b/run/k If-None-Match: *",
		"PUT /b/run/k If-Match: " + tagOfOne, "GET /b/run/a/b c", "DELETE /b/run/k", "GET /b/run/k",
	}
	if diff := cmp.Diff(want, w.seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestErrors are one line, say what is known, and keep secrets.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer answer
		want   string
	}{
		{"lost", answer{}, `s3 put "k": the outcome is unknown: `},
		{"refused", says(403, "AccessDenied"), `s3 put "k": the store answered AccessDenied (403)`},
		{"error", says(500, "InternalError"), `s3 put "k": the outcome is unknown: `},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storeOn(t, &wire{answers: []answer{test.answer}})
			_, err := s.Put(t.Context(), "k", nil)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			if strings.Contains(err.Error(), "a secret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReach(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer answer
		want   string
	}{
		{"lost", answer{}, "no answer for bucket b at http://s3.test"},
		{"credentials", answer{status: 403}, "the credentials are refused for bucket b"},
		{"bucket", answer{status: 404}, "there is no bucket b at http://s3.test"},
		{"well", answer{status: 200}, "<nil>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := storeOn(t, &wire{answers: []answer{test.answer}}).Reach(t.Context())
			got := fmt.Sprint(err)
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got %v, want %q", got, test.want)
			}
		})
	}
	if _, err := New(Config{Bucket: "b"}); err == nil {
		t.Error("a store without a region and credentials was opened")
	}
}

// stalled never answers.
type stalled struct{}

func (stalled) Do(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// TestPatience ends a request that is not answered: its outcome is unknown.
func TestPatience(t *testing.T) {
	c := configOf(stalled{})
	c.Patience = time.Millisecond
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(t.Context(), "k", nil)
	var e *Error
	if !errors.As(err, &e) || e.Refusal() != "" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
