package sim

import "sync"

// ends are what is to be called when a life is over.
type ends struct {
	mu    sync.Mutex
	over  bool
	calls []func()
}

// add has f called when the life is over, at once if it is.
func (e *ends) add(f func()) {
	e.mu.Lock()
	over := e.over
	if !over {
		e.calls = append(e.calls, f)
	}
	e.mu.Unlock()
	if over {
		f()
	}
}

// end calls them, in the order in which they were added.
func (e *ends) end() {
	e.mu.Lock()
	calls := e.calls
	e.over, e.calls = true, nil
	e.mu.Unlock()
	for _, f := range calls {
		f()
	}
}
