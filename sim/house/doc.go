// Package house holds the rules of this repository as code: which room may
// import which, and the page of style. A rule is a function from the sources to
// its findings; each finding names the line and what to do about it.
//
// Read repo.go (what a rule sees), then rule.go (the list of rules), then
// arrows.go (the table of rooms), then the rules, one subject a file.
//
// The package parses and never builds, so it needs no network and sees files
// under every build tag. Tests apply all rules to the repository, and each rule
// to a tiny source that breaks it.
package house
