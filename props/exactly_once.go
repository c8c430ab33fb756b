package props

import (
	"fmt"
	"strings"

	"github.com/hopcheck/hopcheck/model"
)

// ExactlyOnce promises that output and offsets are one thing: of every record of the
// audited input below the group's audited offset that the contract accepts, there is
// exactly one committed record in the audited output, with its id, key and bytes; of
// what the contract rejects there is none; and of nothing at or above the group's
// offset is there any.
//
// A record of the output tells its origin itself; one that does not is not judged.
// Committed is what a reader of committed data gets: what an aborted transaction
// wrote is no copy, and what stands above the last stable offset with no end of its
// transaction is neither a copy nor missing. Of output that retention took nobody
// can say whether it was committed, so it is no copy and not missing either.
//
// It cannot conclude anything without an audit, of partitions of the input that it
// did not read, nor below the input's log start. Where the log of output was not
// read in full, nothing is reported as missing; where an offset of the group could
// not be read, its partition is not judged. A group of which the audit says nothing
// has committed nothing, so one whose offset expired or was reset has output ahead of
// it, and so has, for a moment, a real cluster that is still writing the markers of a
// commit. What a rejected record is, the audit's records say (Record.Class).
func ExactlyOnce(input, output, group string) Property {
	name := "exactly-once/" + output
	return Property{
		Name: name,
		Says: "Every accepted record of " + input + " below the offset of " + group +
			" has exactly one committed record in " + output + ", the same; a rejected one, " +
			"and one that is not below, has none.",
		Check: func(h *model.History) []Broken {
			c := onceCheck{
				ledger: openLedger(h), input: input, output: output, group: group,
				findings: findings{promise: name},
			}
			c.run()
			return c.broken()
		},
		Holds:  text(onceHolds, "INPUT", input, "OUTPUT", output, "GROUP", group),
		Breaks: text(onceBreaks, "INPUT", input, "OUTPUT", output, "GROUP", group),
	}
}

const onceHolds = `
1 9s - observe log [INPUT/0 @0 end=4 {@0 id=ev-1} {@1 class=no-json} {@2 id=ev-2} {@3 id=ev-3}]
2 9s - observe log [OUTPUT/0 @0 end=5 {@0 aborted id=ev-1 from=INPUT/0@0} {@1 abort} {@2 id=ev-1 from=INPUT/0@0} {@3 id=ev-2 from=INPUT/0@2} {@4 commit}]
3 9s - observe commit group=GROUP [INPUT/0 @3]
`

const onceBreaks = `
1 9s - observe log [INPUT/0 @0 end=4 {@0 id=ev-1} {@1 class=no-json} {@2 id=ev-2} {@3 id=ev-3}]
2 9s - observe log [OUTPUT/0 @0 end=2 {@0 id=ev-1 from=INPUT/0@0} {@1 id=ev-1 from=INPUT/0@0}]
3 9s - observe log [OUTPUT/1 @0 end=1 {@0 id=ev-3 from=INPUT/0@3}]
4 9s - observe commit group=GROUP [INPUT/0 @3]
`

type onceCheck struct {
	*ledger
	findings
	input, output, group string
	logs                 []partitionLog
	derived              derivation
	complete             bool // what is not among derived is nowhere
}

func (c *onceCheck) run() {
	c.logs = c.ledger.logs(c.input)
	c.derived, c.complete = c.derivation(c.input, c.output)
	unread := c.commitUnread(c.group)
	for i := range c.logs {
		log := &c.logs[i]
		commit := c.committed(c.group, c.input, log.partition)
		if commit.Seq == 0 && unread {
			continue
		}
		for j := range log.records {
			r := &log.records[j]
			if r.Offset >= log.start && r.Offset < commit.Offset {
				c.below(log, r, commit)
			}
		}
		c.ahead(log, commit)
	}
}

// below judges a record that the group has passed.
func (c *onceCheck) below(log *partitionLog, r *model.Record, commit model.GroupOffset) {
	of := c.derived.of(model.Position{Topic: c.input, Partition: log.partition, Offset: r.Offset})
	copies := of.sure()
	at := place(c.input, log.partition, r.Offset)
	accepted := r.Kind == model.Data && r.Class == ""
	switch {
	case !accepted && len(copies) > 0:
		c.add(fmt.Sprintf("%s became %s, and the input holds %s there", at, copies.places(),
			refused(r)), append(copies.seqs(), log.seq)...)
	case accepted && len(of) == 0 && c.complete:
		c.add(fmt.Sprintf("%s (id %s) has no committed record in %s, and %s committed %d",
			at, r.ID, c.output, c.group, commit.Offset), log.seq, commit.Seq)
	case accepted && len(copies) > 1:
		c.add(fmt.Sprintf("%s (id %s) has %d committed records: %s", at, r.ID, len(copies),
			copies.places()), append(copies.seqs(), log.seq)...)
	}
	for _, d := range copies {
		if is := d.record; accepted && (is.ID != r.ID || is.Key != r.Key || is.Digest != r.Digest) {
			c.add(fmt.Sprintf("%s (id %s) became %s with %s", at, r.ID, d.place(),
				difference(r, is)), log.seq, d.log.seq)
		}
	}
}

// ahead reports output that the group's offset does not cover.
func (c *onceCheck) ahead(log *partitionLog, commit model.GroupOffset) {
	for _, d := range c.derived {
		if d.sure && d.from.Partition == log.partition && d.from.Offset >= max(commit.Offset, 0) {
			has := fmt.Sprintf("committed %d", commit.Offset)
			if commit.Offset < 0 {
				has = "no commit"
			}
			c.add(fmt.Sprintf("%s (id %s) is in the output at %s, ahead of %s, which has %s",
				place(c.input, log.partition, d.from.Offset), d.record.ID, d.place(), c.group, has),
				d.log.seq, commit.Seq)
		}
	}
}

func (d derivation) places() string {
	var names []string
	for _, x := range d {
		names = append(names, x.place())
	}
	return strings.Join(names, ", ")
}

func (d derivation) seqs() []int64 {
	var seqs []int64
	for _, x := range d {
		seqs = append(seqs, x.log.seq)
	}
	return seqs
}

// refused says what a record is that must not have output.
func refused(r *model.Record) string {
	if r.Kind == model.Data {
		return "a record that the contract rejects (" + r.Class + ")"
	}
	return standing(r)
}

func difference(was, is *model.Record) string {
	switch {
	case was.ID != is.ID:
		return "id " + is.ID
	case was.Key != is.Key:
		return fmt.Sprintf("key %q for %q", is.Key, was.Key)
	}
	return "other bytes"
}
