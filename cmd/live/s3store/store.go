package s3store

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Config says where the objects are.
type Config struct {
	Endpoint string // URL; "" for Amazon's own of the region
	Region   string
	Bucket   string
	Prefix   string // of every key, the caller does not see it
	// Credentials sign the requests; they are never part of an error.
	Credentials aws.CredentialsProvider
	// Client sends the requests, one for each call; nil for one with its own
	// connections.
	Client s3.HTTPClient
	// Patience is how long a request may take, 0 for [Patience].
	Patience time.Duration
}

// Patience is how long a request may take unless the configuration says otherwise.
const Patience = 10 * time.Second

// Store is an object store on S3. It implements tap.Store and hops.ObjectStore, and
// is safe for concurrent use.
type Store struct {
	client *s3.Client
	bucket *string
	config Config

	mu sync.Mutex
	// doubts has, by key, the entity tag that a conditional put without an answer
	// has given the object, if it was carried out.
	doubts map[string]string
}

// New returns the store. It sends nothing: see [Store.Reach].
func New(c Config) (*Store, error) {
	if c.Bucket == "" || c.Region == "" || c.Credentials == nil {
		return nil, errors.New("opening the object store: want a bucket, a region and credentials")
	}
	if c.Patience == 0 {
		c.Patience = Patience
	}
	if c.Client == nil {
		c.Client = newClient()
	}
	o := s3.Options{
		Region: c.Region, Credentials: c.Credentials, HTTPClient: c.Client,
		UsePathStyle: true, Retryer: aws.NopRetryer{},
		// The signature covers the body; a second checksum is another header that
		// servers treat differently.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	if c.Endpoint != "" {
		o.BaseEndpoint = aws.String(c.Endpoint)
	}
	return &Store{
		client: s3.New(o), bucket: aws.String(c.Bucket), config: c,
		doubts: make(map[string]string),
	}, nil
}

// newClient follows no redirects, which would send a put again. Of what net/http
// sends again by itself, a put is only what had not left yet.
func newClient() *http.Client {
	return &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

func (s *Store) key(key string) *string { return aws.String(s.config.Prefix + key) }

// Reach asks for the bucket, so that a wrong endpoint, refused credentials and a
// missing bucket are told apart before anything depends on it.
func (s *Store) Reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.Patience)
	defer cancel()
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: s.bucket})
	if err == nil {
		return nil
	}
	e := s.failed("head", "", err)
	at := fmt.Sprintf("bucket %s at %s", s.config.Bucket, s.config.Endpoint)
	switch e.Status {
	case 0:
		return fmt.Errorf("no answer for %s: %w", at, err)
	case http.StatusNotFound:
		return fmt.Errorf("there is no %s", at)
	case http.StatusForbidden, http.StatusUnauthorized:
		return fmt.Errorf("the credentials are refused for %s", at)
	}
	return fmt.Errorf("asking for %s: status %d: %w", at, e.Status, err)
}

// Put replaces the object and returns its entity tag. An error means that the
// outcome is unknown, unless it is an [Error] with a Refusal.
func (s *Store) Put(ctx context.Context, key string, body []byte) (string, error) {
	tag, err := s.put(ctx, key, body, "*")
	if err != nil {
		return "", err
	}
	return tag, nil
}

// PutIf replaces the object if its entity tag is etag; "" means that there must be
// none. It returns false, and no error, where the condition refused, and true where
// an earlier put of the same bytes without an answer turns out to be there. An error
// is that of [Store.Put].
func (s *Store) PutIf(ctx context.Context, key string, body []byte, etag string) (
	ok bool, newETag string, err error,
) {
	tag, failed := s.put(ctx, key, body, etag)
	if failed == nil {
		return true, tag, nil
	}
	refused := failed.refusedCondition()
	if !refused && failed.Refusal() != "" {
		return false, "", failed // nothing was done, for another reason
	}
	want := digest(body)
	if refused && s.doubt(key) != want {
		return false, "", nil
	}
	// No answer, now or to an earlier put of the same: see what is there.
	now, headErr := s.head(ctx, key)
	switch {
	case headErr == nil && strings.Trim(now, `"`) == want:
		s.setDoubt(key, "")
		return true, now, nil
	case refused && (headErr == nil || errors.Is(headErr, fs.ErrNotExist)):
		return false, "", nil
	case refused:
		return false, "", headErr
	}
	// Not to be seen yet may be under way still: it stays unknown.
	s.setDoubt(key, want)
	return false, "", failed
}

// put sends one put. A tag of "*" wants nothing of what is there.
func (s *Store) put(ctx context.Context, key string, body []byte, tag string) (string, *Error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Patience)
	defer cancel()
	in := &s3.PutObjectInput{
		Bucket: s.bucket, Key: s.key(key),
		Body: bytes.NewReader(body), ContentLength: aws.Int64(int64(len(body))),
	}
	switch tag {
	case "*":
	case "":
		in.IfNoneMatch = aws.String("*")
	default:
		in.IfMatch = aws.String(tag)
	}
	out, err := s.client.PutObject(ctx, in)
	if err != nil {
		return "", s.failed("put", key, err)
	}
	s.setDoubt(key, "")
	return aws.ToString(out.ETag), nil
}

func (s *Store) head(ctx context.Context, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Patience)
	defer cancel()
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: s.bucket, Key: s.key(key)})
	if err != nil {
		return "", s.failed("head", key, err)
	}
	return aws.ToString(out.ETag), nil
}

// Get returns the object and its entity tag, or an error that is fs.ErrNotExist.
func (s *Store) Get(ctx context.Context, key string) (body []byte, etag string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Patience)
	defer cancel()
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: s.bucket, Key: s.key(key)})
	if err != nil {
		return nil, "", s.failed("get", key, err)
	}
	body, err = io.ReadAll(out.Body)
	if err := errors.Join(err, out.Body.Close()); err != nil {
		return nil, "", s.failed("get", key, err)
	}
	return body, aws.ToString(out.ETag), nil
}

// mostKeys is what S3 returns for one listing at most.
const mostKeys = 1000

// List returns up to limit keys with the prefix that sort after the given one, in
// the order of their bytes. More than a thousand take several requests, between
// which the store may change.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]string, error) {
	var keys []string
	for len(keys) < limit {
		in := &s3.ListObjectsV2Input{
			Bucket: s.bucket, Prefix: s.key(prefix),
			MaxKeys: aws.Int32(int32(min(limit-len(keys), mostKeys))),
		}
		if after != "" {
			in.StartAfter = s.key(after)
		}
		page, more, err := s.page(ctx, in)
		if err != nil {
			return nil, s.failed("list", prefix, err)
		}
		keys = append(keys, page...)
		if !more || len(page) == 0 {
			break
		}
		after = keys[len(keys)-1]
	}
	return keys, nil
}

func (s *Store) page(ctx context.Context, in *s3.ListObjectsV2Input) ([]string, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Patience)
	defer cancel()
	out, err := s.client.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, false, err
	}
	keys := make([]string, 0, len(out.Contents))
	for _, o := range out.Contents {
		keys = append(keys, strings.TrimPrefix(aws.ToString(o.Key), s.config.Prefix))
	}
	return keys, aws.ToBool(out.IsTruncated), nil
}

// Delete removes the object; one that is not there is no error. An error is that of
// [Store.Put].
func (s *Store) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.Patience)
	defer cancel()
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: s.bucket, Key: s.key(key)})
	if err == nil {
		return nil
	}
	if e := s.failed("delete", key, err); !e.absent() {
		return e
	}
	return nil
}

func (s *Store) doubt(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubts[key]
}

// setDoubt remembers the tag that the object may have got, "" for no doubt.
func (s *Store) setDoubt(key, tag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tag == "" {
		delete(s.doubts, key)
		return
	}
	s.doubts[key] = tag
}

// digest is the entity tag that S3 gives to these bytes.
func digest(body []byte) string {
	sum := md5.Sum(body)
	return hex.EncodeToString(sum[:])
}
