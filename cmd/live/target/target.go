package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/hopcheck/hopcheck/cmd/live/s3store"
	"github.com/hopcheck/hopcheck/cmd/live/stack"
)

// The variables that name servers. Credentials come from the usual AWS_* alone.
const (
	brokersName  = "HOPCHECK_BROKERS"
	endpointName = "HOPCHECK_S3_ENDPOINT"
	bucketName   = "HOPCHECK_S3_BUCKET"
	regionName   = "AWS_REGION"
	keyName      = "AWS_ACCESS_KEY_ID"
	secretName   = "AWS_SECRET_ACCESS_KEY"
	tokenName    = "AWS_SESSION_TOKEN"
)

// Target is the servers of a run. It holds no secrets.
type Target struct {
	Brokers  []string `json:"brokers"`
	Endpoint string   `json:"s3_endpoint"` // "" for Amazon's own of the region
	Region   string   `json:"s3_region"`
	Bucket   string   `json:"s3_bucket"`
	// Stack is the folder of the local stack that the servers are; "" for none. Only its
	// servers are killed and started.
	Stack string `json:"stack,omitempty"`
}

// Find returns the servers that the environment names or, where it names none, those of
// the local stack in dir, and what to add to the environment of processes for them.
func Find(dir string) (Target, []string, error) {
	if os.Getenv(brokersName) != "" {
		t := Target{
			Brokers: strings.Split(os.Getenv(brokersName), ","), Endpoint: os.Getenv(endpointName),
			Region: os.Getenv(regionName), Bucket: os.Getenv(bucketName),
		}
		if t.Bucket == "" || t.Region == "" {
			return t, nil, fmt.Errorf("%s is set, and %s or %s is not: all three name the servers",
				brokersName, bucketName, regionName)
		}
		t.Stack = ofStack(dir, t.Brokers)
		return t, nil, nil
	}
	s, err := stack.Open(dir)
	if err != nil {
		return Target{}, nil, fmt.Errorf("no %s in the environment, and %w", brokersName, err)
	}
	st, err := s.State()
	if err != nil {
		return Target{}, nil, err
	}
	env := make(map[string]string)
	var list []string
	for _, v := range st.Environment() {
		env[v.Name] = v.Value
		list = append(list, v.Name+"="+v.Value)
	}
	return Target{
		Brokers: strings.Split(env[brokersName], ","), Endpoint: env[endpointName],
		Region: env[regionName], Bucket: env[bucketName], Stack: s.Dir(),
	}, list, nil
}

// ofStack returns the folder of the local stack if the brokers are its own.
func ofStack(dir string, brokers []string) string {
	s, err := stack.Open(dir)
	if err != nil {
		return ""
	}
	st, err := s.State()
	if err != nil {
		return ""
	}
	for _, v := range st.Environment() {
		if v.Name == brokersName && v.Value == strings.Join(brokers, ",") {
			return s.Dir()
		}
	}
	return ""
}

// ErrElsewhere is what [Target.Allow] returns for servers of another machine.
var ErrElsewhere = errors.New("not of this machine")

// Allow refuses servers that are not of this machine, unless the user said yes.
func (t Target) Allow(yes bool) error {
	if yes {
		return nil
	}
	hosts := append([]string(nil), t.Brokers...)
	if t.Endpoint == "" {
		return fmt.Errorf("the bucket %s at Amazon is %w: --yes to use it all the same",
			t.Bucket, ErrElsewhere)
	}
	u, err := url.Parse(t.Endpoint)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%s %q is no URL", endpointName, t.Endpoint)
	}
	for _, h := range append(hosts, u.Host) {
		if !loopback(h) {
			return fmt.Errorf("%s is %w: --yes to use it all the same", h, ErrElsewhere)
		}
	}
	return nil
}

// loopback says whether an address is one of this machine. A name is looked at as it
// stands: what it resolves to now it need not later.
func loopback(address string) bool {
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

// Client returns a client of the brokers that no tap looks at.
func (t Target) Client(opts ...kgo.Opt) (*kgo.Client, error) {
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(t.Brokers...), kgo.DisableClientMetrics(),
	}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("making a client of %s: %w", strings.Join(t.Brokers, ","), err)
	}
	return cl, nil
}

// Store returns the objects of the bucket whose keys begin with prefix. The credentials
// are those of env ("NAME=value"), else of this process's environment.
func (t Target) Store(prefix string, env []string) (*s3store.Store, error) {
	if prefix == "" {
		return nil, errors.New("opening the object store: a run without a prefix would be " +
			"all of the bucket")
	}
	look := func(name string) string {
		for _, v := range env {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return os.Getenv(name)
	}
	c := aws.Credentials{
		AccessKeyID: look(keyName), SecretAccessKey: look(secretName),
		SessionToken: look(tokenName),
	}
	if c.AccessKeyID == "" || c.SecretAccessKey == "" {
		return nil, fmt.Errorf("no credentials for bucket %s: set %s and %s",
			t.Bucket, keyName, secretName)
	}
	return s3store.New(s3store.Config{
		Endpoint: t.Endpoint, Region: t.Region, Bucket: t.Bucket, Prefix: prefix,
		Credentials: aws.CredentialsProviderFunc(
			func(context.Context) (aws.Credentials, error) { return c, nil }),
	})
}
