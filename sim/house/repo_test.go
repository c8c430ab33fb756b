package house_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hopcheck/hopcheck/sim/house"
)

// TestRepository applies every rule to every file. Each finding says what to do.
func TestRepository(t *testing.T) {
	r := load(t)
	for _, f := range house.Check(r, house.Rules) {
		t.Error(f)
	}
	if len(r.Packages()) < 2 {
		t.Errorf("read only %d packages: the rules saw nothing", len(r.Packages()))
	}
}

func load(t *testing.T) house.Repo {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("the root of the repository is elsewhere: %v", err)
	}
	r, err := house.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLoad guards against a walk that leaves out what it should read.
func TestLoad(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		".gitignore":      "/out/\n*.prof\n**/testdata/rapid/\n",
		"a.go":            "package a\n",
		"out/b.go":        "package b\n",
		"c/out/d.go":      "package d\n",
		"cpu.prof":        "text\n",
		".git/config":     "text\n",
		".ci/run":         "text\n",
		"c/testdata/e.go": "not Go\n",
		"picture":         "\x00\x01",

		"c/testdata/rapid/x.fail": "text\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := house.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".ci/run", ".gitignore", "a.go", "c/out/d.go", "c/testdata/e.go"}
	if len(r.Files) != len(want) {
		t.Errorf("read %d files, want %q", len(r.Files), want)
	}
	for _, name := range want {
		if !r.Has(name) {
			t.Errorf("did not read %s", name)
		}
	}
	if findings := house.Check(r, house.Rules[:1]); len(findings) > 0 {
		t.Errorf("Go below testdata is data: %v", findings)
	}
}

// TestRoomsAreDocumented keeps the page for contributors complete.
func TestRoomsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/contributing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range house.Rooms {
		row := "\n| `" + strings.TrimSuffix(room.Path, "/...") + "` |"
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/contributing.md has no row for %s: say what the room is", room.Path)
		}
	}
}
