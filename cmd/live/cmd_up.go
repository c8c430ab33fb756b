package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hopcheck/hopcheck/cmd/live/stack"
)

func (p *program) upCommand() *cobra.Command {
	var o stack.Options
	c := &cobra.Command{
		Use:   "up",
		Short: "Start a local stack of real servers",
		Long: "Up starts Apache Kafka, PostgreSQL and an S3 server as processes of this\n" +
			"machine, which listen on 127.0.0.1 only, waits until each answers, and prints\n" +
			"the environment to use: eval \"$(live up)\". They run until `live down`.\n\n" +
			"The first time it fetches Kafka with Maven and builds the S3 server, into the\n" +
			"cache folder of the user. KAFKA_HOME, JAVA_HOME and POSTGRES_HOME are used where\n" +
			"they are set.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.up(c.Context(), o) },
	}
	p.addDir(c)
	c.Flags().IntVar(&o.Brokers, "brokers", 3,
		fmt.Sprintf("brokers of the Kafka cluster, 1 to %d", stack.MaxBrokers))
	c.Flags().StringVar(&o.Kafka, "kafka", stack.DefaultKafka, "version of Kafka to fetch")
	c.Flags().BoolVar(&o.Install, "install", false,
		"install Debian's packages of what is missing, as root")
	return c
}

func (p *program) up(ctx context.Context, o stack.Options) error {
	if o.Brokers < 1 || o.Brokers > stack.MaxBrokers {
		return wrongUse("--brokers %d: want 1 to %d", o.Brokers, stack.MaxBrokers)
	}
	began := time.Now()
	g := newGauge(p.err)
	o.Dir, o.Tell = p.dir, g.show
	s, err := stack.Up(ctx, o)
	g.clear()
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exit{statusUndecided, errors.New("interrupted; what was started is stopped: " +
			"`live up` starts it again, `live down` removes it")}
	}
	if err != nil {
		return notRun(err)
	}
	st, err := s.State()
	if err == nil {
		err = p.printUp(st, s.Dir(), time.Since(began))
	}
	if err != nil {
		return notRun(err)
	}
	return nil
}
