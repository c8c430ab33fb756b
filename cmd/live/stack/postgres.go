package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// oldestPostgres has the snapshot functions, the slot's columns and the WAL limit
// that the hops use, and is still maintained.
const oldestPostgres = 14

// debianPostgres is where Debian keeps the programs, by version.
const debianPostgres = "/usr/lib/postgresql"

const (
	postgresName  = "postgres"
	postgresOwner = "postgres"
)

var postgresVersion = regexp.MustCompile(`(\d+)(?:\.\d+)*`)

// findPostgres returns the folder of PostgreSQL's programs and its version: that of
// POSTGRES_HOME, or else the newest of Debian's, or else that of PATH.
func findPostgres(ctx context.Context) (bin, version string, _ *Need) {
	need := &Need{
		What:    fmt.Sprintf("PostgreSQL %d or later", oldestPostgres),
		Remedy:  "set POSTGRES_HOME to the folder above its bin",
		Package: "postgresql",
	}
	for _, bin := range postgresFolders() {
		if !isFile(filepath.Join(bin, "initdb")) || !isFile(filepath.Join(bin, "postgres")) {
			continue
		}
		out, err := exec.CommandContext(ctx, filepath.Join(bin, "postgres"), "-V").CombinedOutput()
		found := postgresVersion.FindSubmatch(out)
		if err != nil || found == nil {
			need.Why = bin + " has one that does not say its version"
			continue
		}
		if major, err := strconv.Atoi(string(found[1])); err != nil || major < oldestPostgres {
			need.Why = fmt.Sprintf("%s is version %s", bin, found[0])
			continue
		}
		return bin, string(found[0]), nil
	}
	if home := os.Getenv("POSTGRES_HOME"); home != "" && need.Why == "" {
		need.Why = "POSTGRES_HOME has no bin/initdb and bin/postgres"
	}
	return "", "", need
}

func postgresFolders() []string {
	if home := os.Getenv("POSTGRES_HOME"); home != "" {
		return []string{filepath.Join(home, "bin")}
	}
	folders, err := filepath.Glob(filepath.Join(debianPostgres, "*", "bin"))
	if err != nil {
		folders = nil // a pattern that is right has no other error
	}
	slices.SortFunc(folders, func(a, b string) int { return major(b) - major(a) })
	if postgres, err := exec.LookPath("postgres"); err == nil {
		folders = append(folders, filepath.Dir(postgres))
	}
	return folders
}

// major is the version in the name of a folder of Debian's.
func major(bin string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return n
}

// database describes PostgreSQL. It has no socket file, whose path could be too
// long, and trusts whoever reaches it on the loopback address, as the data are
// thrown away.
func (s *Stack) database(p programs, port int) (Server, error) {
	srv := Server{
		Name: postgresName, Kind: Postgres, Version: p.pgNumber, Address: address(port),
		Command: Command{Program: filepath.Join(p.postgres, "postgres"), Args: []string{
			"-D", s.tables(),
			"-c", "listen_addresses=" + loopback, "-c", "port=" + strconv.Itoa(port),
			"-c", "unix_socket_directories=", "-c", "wal_level=logical", "-c", "max_wal_senders=10",
			"-c", "max_replication_slots=10", "-c", "shared_buffers=64MB",
		}},
	}
	if os.Geteuid() != 0 {
		return srv, nil
	}
	// As root it refuses to run, and Debian's package brings this user.
	u, err := user.Lookup(postgresOwner)
	if err != nil {
		return srv, fmt.Errorf("PostgreSQL does not run as root and needs a user %q; "+
			"installing Debian's package postgresql adds it: %w", postgresOwner, err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return srv, fmt.Errorf("reading the ids of user %q: %w", postgresOwner, err)
	}
	srv.Command.Owner = &Owner{UID: uint32(uid), GID: uint32(gid)}
	return srv, reachable(s.dir)
}

// tables is the folder of PostgreSQL's data.
func (s *Stack) tables() string { return filepath.Join(s.folder(postgresName), "data") }

// prepareDatabase makes an empty database cluster, in the place of one that an
// earlier try has left half made.
func (s *Stack) prepareDatabase(ctx context.Context, srv *Server) error {
	if err := os.RemoveAll(s.tables()); err != nil {
		return fmt.Errorf("preparing PostgreSQL: %w", err)
	}
	if owner := srv.Command.Owner; owner != nil {
		if err := os.Chown(s.folder(srv.Name), int(owner.UID), int(owner.GID)); err != nil {
			return fmt.Errorf("preparing PostgreSQL: %w", err)
		}
	}
	initdb := filepath.Join(filepath.Dir(srv.Command.Program), "initdb")
	err := s.tool(ctx, srv, initdb, "-D", s.tables(), "-U", postgresOwner, "--auth=trust",
		"--no-sync", "--no-instructions", "-E", "UTF8", "--locale=C.UTF-8")
	if err != nil {
		return fmt.Errorf("preparing PostgreSQL: %w", err)
	}
	return nil
}

// unlockTables removes the file that keeps a second server from the same data, once
// nothing works there. PostgreSQL itself looks only whether the process in it
// exists, which one that was killed does until its parent has noticed.
func (s *Stack) unlockTables() error {
	pids, err := within(s.tables())
	if err == nil && len(pids) > 0 {
		err = fmt.Errorf("processes %v work in %s", pids, s.tables())
	}
	if err == nil {
		err = absentOK(os.Remove(filepath.Join(s.tables(), "postmaster.pid")))
	}
	if err != nil {
		return fmt.Errorf("starting PostgreSQL: %w", err)
	}
	return nil
}

// databaseReady wants an answer to a query, and logical decoding.
func databaseReady(ctx context.Context, srv *Server) error {
	conn, err := pgx.Connect(ctx, databaseURL(srv))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var level string
	if err := conn.QueryRow(ctx, "show wal_level").Scan(&level); err != nil {
		return err
	}
	if level != "logical" {
		return fmt.Errorf("wal_level is %q", level)
	}
	return nil
}

func databaseURL(srv *Server) string {
	host, port, err := net.SplitHostPort(srv.Address)
	if err != nil {
		host, port = srv.Address, ""
	}
	return fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable",
		postgresOwner, net.JoinHostPort(host, port))
}
