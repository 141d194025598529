package learned

import "sync"

// Windows are what windows and prompts must reach before they are worth another look. A compaction
// that changes nothing would otherwise be repeated, and paid for, with every event.
type Windows struct {
	mu sync.Mutex
	// least is the size of windows whose summary was not shorter, and half as much again, by
	// window.
	least map[string]int
	// floors hold the token trigger of a branch back after a compaction that could not bring its
	// prompt under the threshold, and quiet after a look that found nothing to summarize.
	floors, quiet map[string]int
}

// NotShorter notes that the summary of a window of that many tokens was not shorter. The window is
// not tried again until it has grown by half.
func (w *Windows) NotShorter(window string, tokens int) {
	w.set(&w.least, window, tokens+max(1, tokens/2))
}

// WorthTrying forgets that the summary of a window was not shorter.
func (w *Windows) WorthTrying(window string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.least, window)
}

// Least is how many tokens a window must have to be tried, 0 for any number.
func (w *Windows) Least(window string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.least[window]
}

// RaiseFloor holds the token trigger of a branch back until its prompt has a size. For a prompt
// that could be brought from 90,000 to 80,000 tokens only, over a threshold of 70,000, the floor is
// 88,000.
func (w *Windows) RaiseFloor(branch string, size int) { w.set(&w.floors, branch, size) }

// Floor is the size that a branch's prompt must reach for the token trigger to fire, 0 for any
// size.
func (w *Windows) Floor(branch string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.floors[branch]
}

// DeferUntil keeps a branch from being looked at before its prompt has a size.
func (w *Windows) DeferUntil(branch string, size int) { w.set(&w.quiet, branch, size) }

// QuietUntil is the size that a branch's prompt must reach to be looked at, 0 for any size.
func (w *Windows) QuietUntil(branch string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.quiet[branch]
}

// Relieved notes that a branch's prompt is under the threshold: what it had to wait for counts no
// more.
func (w *Windows) Relieved(branch string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.floors, branch)
	delete(w.quiet, branch)
}

func (w *Windows) forgetQuiet() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quiet = nil
}

func (w *Windows) worthKeeping() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.least) > 0 || len(w.floors) > 0
}

func (w *Windows) set(sizes *map[string]int, key string, size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if *sizes == nil {
		*sizes = map[string]int{}
	}
	(*sizes)[key] = size
}
