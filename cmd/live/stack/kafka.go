package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func brokerName(id int32) string { return fmt.Sprintf("kafka-%d", id) }

// replication is the factor and the least in-sync replicas for n brokers.
func replication(brokers int) (factor, inSync int) {
	factor = min(brokers, 3)
	return factor, max(1, factor-1)
}

// broker describes a broker with the port for its clients and the port for the
// other controllers.
func (s *Stack) broker(id int32, p programs, ports [2]int) Server {
	srv := Server{
		Name: brokerName(id), Kind: Kafka, ID: id, Version: p.kafka,
		Address: address(ports[0]), Controller: address(ports[1]),
	}
	srv.Command = Command{Program: p.java, Args: append(s.javaFlags(srv.Name),
		"-cp", p.jars, "kafka.Kafka", s.properties(srv.Name))}
	return srv
}

func (s *Stack) properties(name string) string {
	return filepath.Join(s.folder(name), "server.properties")
}

// javaFlags make a small virtual machine that starts fast: what a broker does here
// for some minutes is not worth the second compiler.
func (s *Stack) javaFlags(name string) []string {
	flags := []string{
		"-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError",
		"-Djava.awt.headless=true",
		"-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
	}
	// The official layout brings another logger, which is told by a file.
	home := os.Getenv("KAFKA_HOME")
	if home == "" {
		return flags
	}
	flags = append(flags, "-Dkafka.logs.dir="+filepath.Join(s.folder(name), "logs"))
	for _, logger := range [][2]string{
		{"-Dlog4j2.configurationFile=", "log4j2.yaml"},
		{"-Dlog4j.configuration=file:", "log4j.properties"},
	} {
		if file := filepath.Join(home, "config", logger[1]); isFile(file) {
			flags = append(flags, logger[0]+file)
		}
	}
	return flags
}

// configuration is a broker's server.properties. See "Broker Configs" in Kafka's
// documentation.
func (s *Stack) configuration(st *State, srv *Server) string {
	var voters []string
	for _, other := range st.Servers {
		if other.Kind == Kafka {
			voters = append(voters, fmt.Sprintf("%d@%s", other.ID, other.Controller))
		}
	}
	factor, inSync := replication(len(voters))
	const internal = 8 // partitions of the topics of the coordinators; 50 take long to make
	var b strings.Builder
	for _, setting := range []struct {
		key   string
		value any
	}{
		{"process.roles", "broker,controller"},
		{"node.id", srv.ID},
		{"controller.quorum.voters", strings.Join(voters, ",")},
		{"listeners", "CLIENT://" + srv.Address + ",CONTROLLER://" + srv.Controller},
		{"advertised.listeners", "CLIENT://" + srv.Address},
		{"controller.listener.names", "CONTROLLER"},
		{"inter.broker.listener.name", "CLIENT"},
		{"listener.security.protocol.map", "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT"},
		{"log.dirs", filepath.Join(s.folder(srv.Name), "data")},
		{"default.replication.factor", factor},
		{"min.insync.replicas", inSync},
		{"offsets.topic.num.partitions", internal},
		{"offsets.topic.replication.factor", factor},
		{"transaction.state.log.num.partitions", internal},
		{"transaction.state.log.replication.factor", factor},
		{"transaction.state.log.min.isr", inSync},
		{"share.coordinator.state.topic.num.partitions", internal},
		{"share.coordinator.state.topic.replication.factor", factor},
		{"share.coordinator.state.topic.min.isr", inSync},
		{"group.initial.rebalance.delay.ms", 0},
		{"auto.create.topics.enable", false}, // a misspelt topic is an error
		// A member that was killed is missed after 12 s, not 45, as in simulation.
		{"group.consumer.min.session.timeout.ms", 6000},
		{"group.consumer.session.timeout.ms", 12000},
		{"group.consumer.min.heartbeat.interval.ms", 1000},
		{"group.consumer.heartbeat.interval.ms", 3000},
		// Small, for many of them on one machine. The cleaner's buffer is 128 MiB
		// unless told, half of the heap.
		{"num.network.threads", 2},
		{"num.io.threads", 4},
		{"background.threads", 2},
		{"num.recovery.threads.per.data.dir", 1},
		{"log.cleaner.dedupe.buffer.size", 4 << 20},
	} {
		fmt.Fprintf(&b, "%s=%v\n", setting.key, setting.value)
	}
	return b.String()
}

// prepareBroker writes the broker's configuration and formats its storage.
func (s *Stack) prepareBroker(ctx context.Context, st *State, srv *Server) error {
	file := s.properties(srv.Name)
	err := os.WriteFile(file, []byte(s.configuration(st, srv)), 0o644)
	if err != nil {
		return fmt.Errorf("writing the configuration of %s: %w", srv.Name, err)
	}
	args := srv.Command.Args // up to the class that a broker starts with
	args = append([]string{}, args[:len(args)-2]...)
	args = append(args, "kafka.tools.StorageTool", "format", "--ignore-formatted",
		"--cluster-id", st.ID, "--config", file)
	if err := s.tool(ctx, srv, srv.Command.Program, args...); err != nil {
		return fmt.Errorf("formatting the storage of %s: %w", srv.Name, err)
	}
	return nil
}

// brokerReady asks the broker itself whether it is one of the cluster's brokers.
// KRaft lists those that may serve.
func brokerReady(ctx context.Context, srv *Server) error {
	cl, err := client(srv.Address)
	if err != nil {
		return err
	}
	defer cl.Close()
	meta, err := metadata(ctx, cl.SeedBrokers()[0]) // not the others that it names
	if err != nil {
		return err
	}
	for _, b := range meta.Brokers {
		if b.NodeID == srv.ID {
			return nil
		}
	}
	return errors.New("not in its own list of brokers yet")
}

// clusterReady wants every broker, a topic of full replication, and the topics of
// the coordinators, which are made when they are first asked for.
func clusterReady(ctx context.Context, st *State) error {
	cl, err := client(st.brokers()...)
	if err != nil {
		return err
	}
	defer cl.Close()
	want := len(st.brokers())
	for {
		meta, err := metadata(ctx, cl)
		if err == nil && len(meta.Brokers) == want {
			break
		}
		if !pause(ctx, askAgain) {
			return fmt.Errorf("waiting for %d brokers to be one cluster: %w",
				want, errors.Join(ctx.Err(), err))
		}
	}
	probe := Topic{Name: "hopcheck-probe-" + strings.ToLower(st.ID[:8]), Partitions: 1}
	if err := CreateTopics(ctx, cl, probe); err != nil {
		return err
	}
	return errors.Join(deleteTopic(ctx, cl, probe.Name), findCoordinators(ctx, cl))
}
