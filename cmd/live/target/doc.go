// Package target says which servers a run uses, and what must be true before it touches
// them.
package target
