// Package bus says what flows over the bus of course-progress events: the names of its
// topics and groups, made-up events of a player's day, and what a history calls records
// and objects. The simulated worlds and live mode share it, so that one promise means
// the same in both.
//
// Reading order: names.go; events.go, what flows in; identify.go, what records are;
// cells.go, what they are counted under; landed.go and tile.go, what objects hold.
package bus
