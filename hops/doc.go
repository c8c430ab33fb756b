// Package hops holds programs that move course-progress events through Kafka.
//
// Each hop is written as a service would write it: a config struct, a
// constructor, a blocking Run or a Send, typed errors, and an Alert callback
// for what an operator must see. A hop prints nothing and owns no global
// state, so several can live in one process.
//
//   - [Player] publishes [Progress] events: at-least-once per event id, and no
//     append that no send asked for.
//   - [Landing] copies the topic into an [ObjectStore]: at-least-once
//     processing, one object per offset or per fixed block of offsets, rejects
//     in a dead-letter topic.
//   - [Tile] counts events per window and course into Parquet files, with the
//     file sink's protocol of Spark Structured Streaming: exactly once for every
//     batch in the sink log. [ReadTile] reads through it.
//   - [CourseDays] counts landing's objects per course and day: lines, and distinct
//     event ids.
//   - [Validated] copies what the contract accepts into a second topic: exactly
//     once inside Kafka, one transaction for output and offsets, for readers that
//     use read_committed. [ValidatedReader] is one.
//   - [DLQReader] shows each dead-lettered record once.
//   - [Poller] and [LogPublisher] publish the changes that a [Registrar] commits to
//     a database: at least once, the first copies of a key in the order of commits.
//     [Cohort] folds them by their LSN, so that a copy changes nothing, and
//     [SlotMonitor] tells when nobody reads the database's log.
//
// A claim ends at the hop's own boundary. Two sends of one event are two
// offsets, and landing keeps both; whoever counts observations counts distinct
// event ids.
//
// The topic's partitions are landed by one goroutine, in turn, so a slow store
// slows them all; a failing one stops only the partition that it fails.
//
// Every remote answer is read as one of three: done, not done, unknown. A lost
// reply is unknown, never "failed", and each hop converges from both readings.
//
// Read progress.go (the data and its contract), store.go (what hops need
// from a store), player.go and player_flight.go, then landing.go (options and
// life), landing_loop.go (poll, take, pause), landing_partition.go (the state of
// one partition, its step, its commit), landing_record.go or landing_block.go
// (what a step stores), landing_dlq.go and landing_body.go. Then validated.go
// (options and life), validated_loop.go (poll, produce), validated_settle.go (how a
// transaction ends, and where to go on from when it did not), validated_origin.go
// (which input an output is of), and the readers. The tile: tile.go (options and
// life), tile_batch.go (a batch, step by step), tile_recovery.go (where a run
// begins), tile_checkpoint.go and tile_sinklog.go (its logs, as Spark writes them),
// tile_parquet.go (rows), tile_source.go (Kafka by offsets), tile_store.go,
// tile_errors.go, and tile_reader.go. Enrollment: enrollment.go (a change),
// enrollment_store.go (what is needed of the database), registrar.go, poller.go,
// log_publisher.go and log_publisher_stream.go, enrollment_producer.go (why one
// change of a key at a time), enrollment_retry.go, cohort.go, cohort_session.go,
// cohort_fold.go, cohort_store.go, and slot_monitor.go.
package hops
