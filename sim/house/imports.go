package house

import (
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// matches says whether a pattern stands for a path.
func matches(pattern, path string) bool {
	if pattern == anyone {
		return true
	}
	base, below := strings.CutSuffix(pattern, "/...")
	return path == base || below && strings.HasPrefix(path, base+"/")
}

func matchesAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, path) })
}

// roomOf returns the row for a folder, or nil.
func roomOf(dir string) *Room {
	var best *Room
	for i := range Rooms {
		row := &Rooms[i]
		if matches(row.Path, dir) && (best == nil || len(row.Path) > len(best.Path)) {
			best = row
		}
	}
	return best
}

// one is one import of a file that is part of the program.
type one struct {
	file File
	path string
	ours string // the path below the module; "" for a foreign package
	pos  token.Pos
}

func (i one) std() bool {
	first, _, _ := strings.Cut(i.path, "/")
	return !strings.Contains(first, ".")
}

// importsOf returns the imports in order, of tests or of the program.
func importsOf(r Repo, tests bool) []one {
	var all []one
	for _, f := range r.Files {
		if f.Syntax == nil || f.Test() != tests {
			continue
		}
		specs := f.imports()
		for _, path := range slices.Sorted(maps.Keys(specs)) {
			ours, _ := strings.CutPrefix(path, Module+"/")
			if ours == path {
				ours = ""
			}
			all = append(all, one{f, path, ours, specs[path].Pos()})
		}
	}
	return all
}

func hasRoom(r Repo) []Finding {
	packages := r.Packages()
	var all []Finding
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		if roomOf(dir) == nil {
			all = append(all, packages[dir][0].onLine(1,
				fmt.Sprintf("package %s is in no room", dir),
				"move it into a room, or give it a row in sim/house/arrows.go"))
		}
	}
	return all
}

func arrows(r Repo) []Finding {
	var all []Finding
	for _, i := range importsOf(r, false) {
		room := roomOf(i.file.Dir())
		if i.ours == "" || room == nil || matchesAny(room.Ours, i.ours) || sameRow(room, i.ours) {
			continue
		}
		may := "nothing of ours"
		if len(room.Ours) > 0 {
			may = "of ours only " + strings.Join(room.Ours, ", ")
		}
		all = append(all, i.file.at(i.pos,
			fmt.Sprintf("%s imports %s", i.file.Dir(), i.ours),
			fmt.Sprintf("%s may import %s: move the code to a room that may, or pass a value in",
				room.Path, may)))
	}
	return all
}

// sameRow says whether both are below one row that ends in "/...".
func sameRow(room *Room, ours string) bool {
	return strings.HasSuffix(room.Path, "/...") && roomOf(ours) == room
}

func outside(r Repo) []Finding {
	var all []Finding
	for _, i := range importsOf(r, false) {
		room := roomOf(i.file.Dir())
		if i.ours != "" || i.std() || room == nil || matchesAny(room.Outside, i.path) {
			continue
		}
		may := "use the standard library"
		if len(room.Outside) > 0 {
			may = "use " + strings.Join(room.Outside, ", ")
		}
		all = append(all, i.file.at(i.pos,
			fmt.Sprintf("%s imports %s", i.file.Dir(), i.path),
			may+", or add it to the room's row in sim/house/arrows.go with a decision record"))
	}
	return all
}

func kept(r Repo) []Finding {
	var all []Finding
	for _, i := range importsOf(r, false) {
		for _, k := range Kept {
			if matches(k.What, i.path) && !matchesAny(k.In, i.file.Dir()) {
				all = append(all, i.file.at(i.pos,
					fmt.Sprintf("%s is for %s alone", i.path, strings.Join(k.In, ", ")), k.Instead))
			}
		}
	}
	return all
}

func hopTests(r Repo) []Finding {
	var all []Finding
	for _, i := range importsOf(r, true) {
		if i.file.In("hops") && i.ours != "" && !matches("hops/...", i.ours) {
			all = append(all, i.file.at(i.pos, "a test of a hop imports "+i.ours,
				"test the hop as its user would, and simulate it in sim/worlds"))
		}
	}
	return all
}

func reach(r Repo) []Finding {
	next := make(map[string][]one)
	for _, i := range importsOf(r, false) {
		next[i.file.Dir()] = append(next[i.file.Dir()], i)
	}
	var all []Finding
	for _, from := range slices.Sorted(maps.Keys(next)) {
		for _, room := range slices.Sorted(maps.Keys(NeverReach)) {
			if !matches(room, from) {
				continue
			}
			if chain := chainTo(next, from, NeverReach[room]); chain != nil {
				all = append(all, chain[0].file.at(chain[0].pos, "reaches "+spell(chain),
					"cut the chain: what both need belongs in model, sim/tap or sim/schedule"))
			}
		}
	}
	return all
}

// chainTo returns the shortest chain of imports from a folder to one that is not
// wanted, or nil.
func chainTo(next map[string][]one, from string, never []string) []one {
	seen := map[string]bool{from: true}
	queue := [][]one{nil}
	for len(queue) > 0 {
		chain := queue[0]
		queue = queue[1:]
		dir := from
		if len(chain) > 0 {
			dir = chain[len(chain)-1].ours
		}
		for _, i := range next[dir] {
			longer := append(slices.Clone(chain), i)
			if matchesAny(never, i.path) {
				return longer
			}
			if i.ours != "" && !seen[i.ours] {
				seen[i.ours] = true
				queue = append(queue, longer)
			}
		}
	}
	return nil
}

func spell(chain []one) string {
	steps := make([]string, len(chain))
	for i, c := range chain {
		steps[i] = c.path
	}
	return strings.Join(steps, " -> ")
}
