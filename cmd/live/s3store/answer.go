package s3store

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Error is a request without the answer that was wanted.
type Error struct {
	Op   string // put, get, head, list, delete
	Key  string // as the caller has it
	Code string // S3's word, "" where there was no answer
	// Status is that of HTTP, 0 where there was no answer.
	Status int
	cause  error
}

// Error says what was being done and what came of it.
func (e *Error) Error() string {
	if e.Refusal() != "" {
		return fmt.Sprintf("s3 %s %q: the store answered %s (%d)", e.Op, e.Key, e.Code, e.Status)
	}
	return fmt.Sprintf("s3 %s %q: the outcome is unknown: %v", e.Op, e.Key, e.cause)
}

// Unwrap returns what the client said, or fs.ErrNotExist where there is no such
// object.
func (e *Error) Unwrap() error {
	if e.absent() {
		return fs.ErrNotExist
	}
	return e.cause
}

// Refusal returns S3's word where it says that nothing was done, and "" where the
// outcome is unknown: without an answer, and after an error of the server's own
// (5xx), which S3 gives for writes that it may have carried out.
func (e *Error) Refusal() string {
	if e.Status >= 400 && e.Status < 500 && e.Status != http.StatusRequestTimeout {
		return e.Code
	}
	return ""
}

// absent says that there is no such object. Answers to HEAD have no body and with
// it no word of S3's, which the client then calls NotFound.
func (e *Error) absent() bool {
	return e.Status == http.StatusNotFound && (e.Code == "NoSuchKey" || e.Code == "NotFound")
}

// refusedCondition says that the object is not what the condition wants: with a tag
// in the condition also that there is none.
func (e *Error) refusedCondition() bool {
	return e.Status == http.StatusPreconditionFailed || e.absent()
}

func (s *Store) failed(op, key string, err error) *Error {
	e := &Error{Op: op, Key: key, cause: err}
	var resp *smithyhttp.ResponseError
	if errors.As(err, &resp) {
		e.Status = resp.HTTPStatusCode()
	}
	var said smithy.APIError
	if errors.As(err, &said) {
		e.Code = said.ErrorCode()
	}
	return e
}
