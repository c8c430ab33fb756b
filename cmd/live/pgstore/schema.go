package pgstore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Config says where the database is, and what of it belongs to a run.
type Config struct {
	// URL is PostgreSQL's connection string. A password in it is in no error.
	URL string
	// Prefix is the schema of the run's tables, and what the names of its slots and
	// publications begin with: a lower-case letter, then up to 39 of a-z, 0-9 and "_".
	Prefix string
}

var prefixes = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// owned is the comment on a schema that a run made; nothing else is ever dropped.
const owned = "hopcheck: one run, may be dropped"

// names are those of what a run makes, the first four as SQL has them.
type names struct {
	schema, publication, audited, lock string
	slot, auditSlot                    string
}

func (c Config) names() (names, error) {
	reserved := c.Prefix == "public" || c.Prefix == "information_schema" ||
		strings.HasPrefix(c.Prefix, "pg_")
	if !prefixes.MatchString(c.Prefix) || reserved {
		return names{}, fmt.Errorf("%q cannot be the prefix of a run in PostgreSQL: want a "+
			"lower-case letter, then up to 39 of a-z, 0-9 and \"_\", and none of its own",
			c.Prefix)
	}
	quote := func(name string) string { return pgx.Identifier{name}.Sanitize() }
	return names{
		schema:      quote(c.Prefix),
		publication: quote(c.Prefix + "_changes"), audited: quote(c.Prefix + "_audit"),
		lock: "'" + c.Prefix + "/'",
		slot: c.Prefix + "_changes", auditSlot: c.Prefix + "_audit",
	}, nil
}

// sql puts the names into a statement.
func (n names) sql(statement string) string {
	return strings.NewReplacer(
		"SCHEMA", n.schema, "PUBLICATION", n.publication, "AUDITED", n.audited, "LOCK", n.lock,
	).Replace(statement)
}

// ddl makes the tables. Columns with keys are never stored out of line, as the stream leaves
// out such values where they did not change. The function claim is in doc.go.
const ddl = `
create table SCHEMA.enrollment (
	learner text not null, course text not null, op text not null,
	primary key (learner, course)
);
alter table SCHEMA.enrollment alter learner set storage plain,
	alter course set storage plain, alter op set storage plain;
create table SCHEMA.outbox (
	id bigserial primary key,
	learner text not null, course text not null, op text not null,
	key text generated always as (learner || '/' || course) stored,
	source_lsn text not null,
	published boolean not null default false,
	xid xid8 not null default pg_current_xact_id()
);
create index on SCHEMA.outbox (id) where not published;
create index on SCHEMA.outbox (xid, id);
create table SCHEMA.slot (
	one boolean primary key default true check (one),
	began pg_lsn, told pg_lsn, resume text collate "C" not null default ''
);
insert into SCHEMA.slot default values;
create publication PUBLICATION for table SCHEMA.enrollment with (publish = 'insert, update');
create publication AUDITED for table SCHEMA.enrollment, SCHEMA.outbox
	with (publish = 'insert, update');
create function SCHEMA.claim(most integer) returns setof SCHEMA.outbox
language plpgsql as $$
declare
	o SCHEMA.outbox; n integer := 0;
	taken text[] := '{}'; busy text[] := '{}';
begin
	for o in select * from SCHEMA.outbox where not published order by id loop
		exit when n >= most;
		if o.key = any (taken) then
			n := n + 1;
		elsif o.key = any (busy) then
			null;
		elsif pg_try_advisory_xact_lock(hashtextextended(LOCK || o.key, 0)) then
			taken := taken || o.key;
			n := n + 1;
		else
			busy := busy || o.key;
		end if;
	end loop;
	-- A new statement: its snapshot is newer than the locks.
	busy := '{}';
	for o in select * from SCHEMA.outbox
		where not published and key = any (taken) order by id limit most
	loop
		continue when o.key = any (busy);
		perform 1 from SCHEMA.outbox x where x.id = o.id and not x.published
			for update skip locked;
		if found then
			return next o;
		else -- locked by somebody who takes no keys
			busy := busy || o.key;
		end if;
	end loop;
end $$;
`

// Create makes what a run needs: a schema with the name of the prefix, two publications,
// and two slots, one of which is read by audits alone and keeps the log of the whole run.
// It refuses a database in which that name is taken, or that cannot decode its log. What
// it made is removed where it fails. ctx bounds it: a slot waits for transactions that
// are open.
func Create(ctx context.Context, c Config) error {
	s, err := New(c)
	if err != nil {
		return err
	}
	defer s.Close()
	doing := "creating " + c.Prefix + " in the database"
	conn, err := s.connect(ctx)
	if err != nil {
		return say(doing, err)
	}
	if err := suitable(ctx, conn); err != nil {
		return say(doing, err)
	}
	create := "begin; create schema SCHEMA; comment on schema SCHEMA is '" + owned + "';" +
		ddl + "commit"
	if _, err := conn.Exec(ctx, s.names.sql(create)); err != nil {
		return say(doing, err) // one transaction: nothing is left, or it is unknown
	}
	// For the positions of commits at once; only some may have it, and others do without.
	_, _ = conn.Exec(ctx, s.names.sql("create extension pg_walinspect schema SCHEMA"))
	err = s.newSlot(ctx, conn, s.names.auditSlot)
	if err == nil {
		err = s.CreateSlot(ctx)
	}
	if err != nil {
		const patience = 10 * time.Second
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		return errors.Join(say(doing, err), Drop(clean, c))
	}
	return nil
}

// suitable refuses a server on which a run cannot work, in the words of what to do.
func suitable(ctx context.Context, conn *pgx.Conn) error {
	var version int
	var level string
	var create, replicate bool
	err := conn.QueryRow(ctx, `select current_setting('server_version_num')::int,
		current_setting('wal_level'),
		has_database_privilege(current_database(), 'create'),
		(select rolreplication or rolsuper from pg_roles where rolname = current_user)`,
	).Scan(&version, &level, &create, &replicate)
	const oldest = 140000
	switch {
	case err != nil:
		return err
	case version < oldest:
		return fmt.Errorf("its version is %d: want PostgreSQL 14 or later", version/10000)
	case level != "logical":
		return fmt.Errorf("wal_level is %q: set it to \"logical\" and restart the server", level)
	case !create:
		return errors.New("its user must not create a schema: " +
			"grant create on the database")
	case !replicate:
		return errors.New("its user must not replicate: alter role ... replication")
	}
	return nil
}

// Drop removes what [Create] made, streams that read from it too. Where there is nothing
// it does nothing; a schema that Create did not make is an error.
func Drop(ctx context.Context, c Config) error {
	s, err := New(c)
	if err != nil {
		return err
	}
	defer s.Close()
	doing := "dropping " + c.Prefix + " from the database"
	conn, err := s.connect(ctx)
	if err != nil {
		return say(doing, err)
	}
	var comment string
	err = conn.QueryRow(ctx, `select coalesce(obj_description(oid, 'pg_namespace'), '')
		from pg_namespace where nspname = $1`, c.Prefix).Scan(&comment)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return say(doing, err)
	case comment != owned:
		return fmt.Errorf("%s: the schema was not made by a run: it stays", doing)
	}
	for _, slot := range []string{s.names.slot, s.names.auditSlot} {
		if err := s.dropSlot(ctx, conn, slot); err != nil {
			return say(doing, err)
		}
	}
	// The schema last: it says that the rest is ours.
	_, err = conn.Exec(ctx, s.names.sql("begin; drop publication if exists PUBLICATION; "+
		"drop publication if exists AUDITED; drop schema SCHEMA cascade; commit"))
	return say(doing, err)
}
