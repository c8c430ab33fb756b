//go:build synctests

package sim

// Simulates says whether this build can simulate: only with -tags synctests does
// franz-go use mutexes that virtual time can see through.
const Simulates = true
