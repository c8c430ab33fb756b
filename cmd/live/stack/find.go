package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Need is a program that is not there.
type Need struct {
	What    string // with its version: "Java 17 or later"
	Why     string // what is wrong, where it is not just missing
	Remedy  string // what to set, beside installing it
	Package string // Debian's package, "" where there is none
}

// Missing is the error of [Up] where programs must be installed first. It names all
// of them.
type Missing struct{ Needs []Need }

// Error says in one line what is missing and how to get it.
func (m *Missing) Error() string {
	var needs []string
	for _, n := range m.Needs {
		text := n.What
		if n.Why != "" {
			text += " (" + n.Why + ")"
		}
		var ways []string
		if n.Package != "" {
			ways = append(ways, "apt-get install "+n.Package)
		}
		if n.Remedy != "" {
			ways = append(ways, n.Remedy)
		}
		needs = append(needs, text+": "+strings.Join(ways, ", or "))
	}
	text := "missing " + strings.Join(needs, "; missing ")
	if len(m.packages()) > 0 {
		text += "; as root on Debian, `live up --install` installs what is missing"
	}
	return text
}

func (m *Missing) packages() []string {
	var all []string
	for _, n := range m.Needs {
		if n.Package != "" {
			all = append(all, n.Package)
		}
	}
	return all
}

// programs are the programs that servers need, found.
type programs struct {
	java     string
	jars     string // class path of Kafka
	kafka    string // its version
	postgres string // the folder of its programs
	pgNumber string // its version
	s3       string // the server
}

// find looks for all programs before it fetches or builds any, so that everything
// that must be installed is said at once.
func find(ctx context.Context, o Options) (programs, error) {
	var p programs
	var missing Missing
	need := func(n *Need) {
		if n != nil {
			missing.Needs = append(missing.Needs, *n)
		}
	}
	var n *Need
	p.java, n = findJava(ctx)
	need(n)
	jars, n := findJars(o)
	need(n)
	p.postgres, p.pgNumber, n = findPostgres(ctx)
	need(n)
	s3, n := findS3()
	need(n)
	if len(missing.Needs) > 0 {
		return p, &missing
	}
	// The two take long the first time, and neither needs both cores all the time.
	var both sync.WaitGroup
	var jarsErr, s3Err error
	both.Go(func() { p.jars, p.kafka, jarsErr = jars(ctx, o.tell) })
	both.Go(func() { p.s3, s3Err = s3(ctx, o.tell) })
	both.Wait()
	return p, errors.Join(jarsErr, s3Err)
}

// findOrInstall is find, after installing what is missing where that is wanted.
func findOrInstall(ctx context.Context, o Options) (programs, error) {
	p, err := find(ctx, o)
	var missing *Missing
	if !o.Install || !errors.As(err, &missing) {
		return p, err
	}
	if err := install(ctx, missing, o.tell); err != nil {
		return p, err
	}
	return find(ctx, o)
}

// install installs Debian's packages of what is missing.
func install(ctx context.Context, m *Missing, tell func(string)) error {
	packages := m.packages()
	if os.Geteuid() != 0 {
		return fmt.Errorf("installing packages: not root: %w", m)
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return fmt.Errorf("installing packages: no apt-get here: %w", m)
	}
	tell("installing " + strings.Join(packages, ", "))
	for _, args := range [][]string{
		{"update", "-q"},
		append([]string{"install", "-q", "-y", "--no-install-recommends"}, packages...),
	} {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w", args[0], said(err, out))
		}
	}
	return nil
}

// cached returns the folder in the user's cache with the name. Where there is none
// yet, fill makes it: in another folder, which then gets the name, so that what is
// there is whole.
func cached(name string, fill func(dir string) error) (string, error) {
	base, err := cacheFolder()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, name)
	if isDir(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", fmt.Errorf("making the cache: %w", err)
	}
	making, err := os.MkdirTemp(base, name+".making-*")
	if err != nil {
		return "", fmt.Errorf("making the cache: %w", err)
	}
	defer func() { _ = os.RemoveAll(making) }() // a renamed one is not there any more
	if err := errors.Join(os.Chmod(making, 0o755), fill(making)); err != nil {
		return "", err
	}
	if err := os.Rename(making, dir); err != nil && !isDir(dir) { // another was faster
		return "", fmt.Errorf("making the cache: %w", err)
	}
	return dir, nil
}

func cacheFolder() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("looking for the cache: %w", err)
	}
	return filepath.Join(base, "hopcheck"), nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// reachable says which folder above name a user other than its owner cannot pass.
func reachable(name string) error {
	for dir := name; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		const pass = 0o001
		if err == nil && info.Mode()&pass == 0 {
			return fmt.Errorf("user postgres cannot reach %s: %s has mode %v; "+
				"use another folder with --dir, or chmod o+x it", name, dir, info.Mode().Perm())
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
