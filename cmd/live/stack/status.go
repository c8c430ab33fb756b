package stack

import (
	"context"
	"strings"
	"time"
)

// Health is a server as it is now.
type Health struct {
	Server  Server
	Running bool  // its process is there
	Answer  error // nil where it answered
	Memory  int64 // resident, in bytes; of the process alone
}

// askIn is how long Status waits for an answer.
const askIn = 5 * time.Second

// Status asks every server whether it answers, one after the other.
func (s *Stack) Status(ctx context.Context) ([]Health, error) {
	st, err := readState(s.dir)
	if err != nil {
		return nil, err
	}
	var all []Health
	for _, srv := range st.Servers {
		h := Health{Server: srv, Running: srv.Process.runs(st.Boot)}
		if h.Running {
			h.Memory = memory(srv.Process.PID)
			limit, cancel := context.WithTimeout(ctx, askIn)
			h.Answer = ready(&srv)(limit)
			cancel()
		}
		all = append(all, h)
	}
	return all, nil
}

// Variable is one of the environment.
type Variable struct{ Name, Value string }

// Environment is what live mode's other commands read to find the servers of the
// stack, in the order to print them.
func (s *State) Environment() []Variable {
	var env []Variable
	add := func(name, value string) { env = append(env, Variable{name, value}) }
	add("HOPCHECK_BROKERS", strings.Join(s.brokers(), ","))
	for i := range s.Servers {
		switch srv := &s.Servers[i]; srv.Kind {
		case S3:
			add("HOPCHECK_S3_ENDPOINT", s3Endpoint(srv))
			add("HOPCHECK_S3_BUCKET", S3Bucket)
			add("AWS_REGION", S3Region)
			add("AWS_ACCESS_KEY_ID", S3AccessKey)
			add("AWS_SECRET_ACCESS_KEY", S3SecretKey)
		case Postgres:
			add("DATABASE_URL", databaseURL(srv))
		case Kafka:
		}
	}
	return env
}
