package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Module is the path that our own imports begin with.
const Module = "github.com/hopcheck/hopcheck"

// maxFile bounds what is read as text, in bytes; the house has no larger source.
const maxFile = 1 << 20

// Repo is the text files of the repository in order of their paths.
type Repo struct {
	Files []File
}

// File is one text file. Syntax is nil unless it is Go outside testdata that
// parses; Broken says why a Go file does not.
type File struct {
	Path   string // from the root, with slashes
	Text   string
	Syntax *ast.File
	Broken error
	fset   *token.FileSet
}

// Load reads the text files below root, apart from what .gitignore names there.
func Load(root string) (Repo, error) {
	skip, err := ignored(root)
	if err != nil {
		return Repo{}, err
	}
	texts := make(map[string]string)
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && (d.Name() == ".git" || skip(rel)):
			return fs.SkipDir
		case !d.Type().IsRegular() || skip(rel):
			return nil
		}
		text, err := readText(name)
		if err == nil && text != "" {
			texts[rel] = text
		}
		return err
	})
	if err != nil {
		return Repo{}, fmt.Errorf("reading the repository: %w", err)
	}
	return Parse(texts), nil
}

// readText returns "" for what is large or not text.
func readText(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil || info.Size() > maxFile {
		return "", err
	}
	b, err := os.ReadFile(name)
	if err != nil || !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return "", err
	}
	return string(b), nil
}

// ignored understands the forms that our .gitignore has: "/path" from the root,
// "**/path" anywhere, and a pattern for the last element. A "/" may follow each.
func ignored(root string) (func(rel string) bool, error) {
	b, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		return nil, fmt.Errorf("reading what git ignores: %w", err)
	}
	lines := strings.Fields(string(b))
	return func(rel string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			line = strings.TrimSuffix(line, "/")
			if below, ok := strings.CutPrefix(line, "**/"); ok {
				return strings.HasSuffix("/"+rel, "/"+below)
			}
			if strings.HasPrefix(line, "/") {
				return rel == line[1:]
			}
			ok, _ := path.Match(line, path.Base(rel))
			return ok
		})
	}, nil
}

// Parse makes a repository of texts by path.
func Parse(texts map[string]string) Repo {
	var r Repo
	fset := token.NewFileSet()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		f := File{Path: name, Text: texts[name], fset: fset}
		if strings.HasSuffix(name, ".go") && !strings.Contains("/"+name, "/testdata/") {
			const mode = parser.ParseComments | parser.SkipObjectResolution
			f.Syntax, f.Broken = parser.ParseFile(fset, name, f.Text, mode)
			if f.Broken != nil {
				f.Syntax = nil
			}
		}
		r.Files = append(r.Files, f)
	}
	return r
}

// Has says whether there is a file at the path.
func (r Repo) Has(name string) bool {
	return slices.ContainsFunc(r.Files, func(f File) bool { return f.Path == name })
}

// Packages returns the Go files by folder, tests included.
func (r Repo) Packages() map[string][]File {
	dirs := make(map[string][]File)
	for _, f := range r.Files {
		if f.Syntax != nil {
			dirs[f.Dir()] = append(dirs[f.Dir()], f)
		}
	}
	return dirs
}

// Dir is the folder of the file, which is its package's path below [Module].
func (f File) Dir() string { return path.Dir(f.Path) }

// Test says whether the file is part of tests only.
func (f File) Test() bool { return strings.HasSuffix(f.Path, "_test.go") }

// In says whether one of the folders holds the file, at any depth.
func (f File) In(dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool {
		return strings.HasPrefix(f.Path, d+"/")
	})
}

// Line is the line of a position, from 1.
func (f File) Line(pos token.Pos) int { return f.fset.Position(pos).Line }

// imports returns the import specs by path.
func (f File) imports() map[string]*ast.ImportSpec {
	specs := make(map[string]*ast.ImportSpec)
	for _, s := range f.Syntax.Imports {
		if p, err := strconv.Unquote(s.Path.Value); err == nil {
			specs[p] = s
		}
	}
	return specs
}
