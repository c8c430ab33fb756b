package stack

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sample() State {
	return State{
		Form: form, ID: "4L6g3nShT-eMCtK--X86sw", Boot: "b",
		Since: time.Unix(1_800_000_000, 0).UTC(),
		Servers: []Server{
			{
				Name: "kafka-1", Kind: Kafka, ID: 1, Version: "4.4.0",
				Address: "127.0.0.1:20001", Controller: "127.0.0.1:20002",
				Prepared: true, Process: Process{12, 345}, ReadyS: 3.25,
				Command: Command{Program: "java", Args: []string{"-cp", "x/*", "kafka.Kafka", "f"}},
			},
			{
				Name: "kafka-2", Kind: Kafka, ID: 2, Address: "127.0.0.1:20003",
				Controller: "127.0.0.1:20004",
			},
			{
				Name: "postgres", Kind: Postgres, Address: "127.0.0.1:20005",
				Command: Command{Program: "postgres", Owner: &Owner{UID: 101, GID: 104}},
			},
			{Name: "s3", Kind: S3, Address: "127.0.0.1:20006"},
		},
	}
}

func TestStateIsReadAsWritten(t *testing.T) {
	dir, want := t.TempDir(), sample()
	for range 2 { // the second replaces the first
		if err := want.write(dir); err != nil {
			t.Fatal(err)
		}
		got, err := readState(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read another state than was written (-want +got):\n%s", diff)
		}
		want.Servers[0].Process = Process{}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("writing left %v, %v; want the state alone", entries, err)
	}
}

func TestStateThatCannotBeRead(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"cut off", `{"form":1,`, "unexpected end of JSON"},
		{"of another program", `{"form":2}`, "form 2, and this program knows 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			err := os.WriteFile(filepath.Join(dir, stateName), []byte(test.text), 0o600)
			if err != nil {
				t.Fatal(err)
			}
			_, err = readState(dir)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := Open(t.TempDir()); supported && !Absent(err) {
		t.Errorf("an empty folder: %v, want that there is no stack", err)
	}
}

// TestChangeThatFails leaves the state as it was.
func TestChangeThatFails(t *testing.T) {
	if !supported {
		t.Skip("the stack needs Linux")
	}
	dir, want := t.TempDir(), sample()
	if err := want.write(dir); err != nil {
		t.Fatal(err)
	}
	wrong := errors.New("wrong")
	err := change(dir, func(s *State) error {
		s.Ending = true
		return wrong
	})
	got, readErr := readState(dir)
	if !errors.Is(err, wrong) || readErr != nil || got.Ending {
		t.Errorf("got %v, %v and a state that is ending: %v", err, readErr, got.Ending)
	}
}

func TestEnvironment(t *testing.T) {
	st := sample()
	want := []Variable{
		{"HOPCHECK_BROKERS", "127.0.0.1:20001,127.0.0.1:20003"},
		{"DATABASE_URL", "postgres://postgres@127.0.0.1:20005/postgres?sslmode=disable"},
		{"HOPCHECK_S3_ENDPOINT", "http://127.0.0.1:20006"},
		{"HOPCHECK_S3_BUCKET", S3Bucket},
		{"AWS_REGION", S3Region},
		{"AWS_ACCESS_KEY_ID", S3AccessKey},
		{"AWS_SECRET_ACCESS_KEY", S3SecretKey},
	}
	if diff := cmp.Diff(want, st.Environment()); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

// TestConfiguration has the settings that promises rest on.
func TestConfiguration(t *testing.T) {
	st := sample()
	st.Servers = append(st.Servers, Server{
		Name: "kafka-3", Kind: Kafka, ID: 3,
		Address: "127.0.0.1:20007", Controller: "127.0.0.1:20008",
	})
	s := &Stack{dir: "d"}
	got := "\n" + s.configuration(&st, &st.Servers[1])
	for _, want := range []string{
		"node.id=2",
		"controller.quorum.voters=1@127.0.0.1:20002,2@127.0.0.1:20004,3@127.0.0.1:20008",
		"listeners=CLIENT://127.0.0.1:20003,CONTROLLER://127.0.0.1:20004",
		"log.dirs=" + filepath.Join("d", "kafka-2", "data"),
		"default.replication.factor=3", "min.insync.replicas=2",
		"offsets.topic.replication.factor=3", "transaction.state.log.min.isr=2",
		"auto.create.topics.enable=false",
	} {
		if !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("no line %q in:\n%s", want, got)
		}
	}
	for brokers, want := range map[int][2]int{1: {1, 1}, 2: {2, 1}, 3: {3, 2}, 9: {3, 2}} {
		if factor, inSync := replication(brokers); [2]int{factor, inSync} != want {
			t.Errorf("%d brokers: %d replicas, %d in sync, want %v", brokers, factor, inSync, want)
		}
	}
}
