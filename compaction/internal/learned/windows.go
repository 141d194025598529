package learned

import "sync"

// Windows are what windows and prompts must reach before they are worth another look. A compaction
// that changes nothing would otherwise be repeated, and paid for, with every event. All sizes are
// in tokens, and 0 where none is known.
type Windows struct {
	// least is the size of windows whose summary was not shorter, and half as much again, by
	// window.
	least sizes
	// floors hold the token trigger of a branch back after a compaction that could not bring its
	// prompt under the threshold, and quiet after a look that found nothing to summarize.
	floors, quiet sizes
}

// NotShorter notes that the summary of a window of that many tokens was not shorter. The window is
// not tried again until it has grown by half.
func (w *Windows) NotShorter(window string, tokens int) {
	w.least.set(window, tokens+max(1, tokens/2))
}

// WorthTrying forgets that the summary of a window was not shorter.
func (w *Windows) WorthTrying(window string) { w.least.set(window, 0) }

// Least is how many tokens a window must have to be tried.
func (w *Windows) Least(window string) int { return w.least.get(window) }

// RaiseFloor holds the token trigger of a branch back until its prompt has a size. For a prompt
// that could be brought from 90,000 to 80,000 tokens only, over a threshold of 70,000, the floor is
// 88,000.
func (w *Windows) RaiseFloor(branch string, size int) { w.floors.set(branch, size) }

// Floor is the size that a branch's prompt must reach for the token trigger to fire.
func (w *Windows) Floor(branch string) int { return w.floors.get(branch) }

// DeferUntil keeps a branch from being looked at before its prompt has a size.
func (w *Windows) DeferUntil(branch string, size int) { w.quiet.set(branch, size) }

// QuietUntil is the size that a branch's prompt must reach to be looked at.
func (w *Windows) QuietUntil(branch string) int { return w.quiet.get(branch) }

// Relieved notes that a branch's prompt is under the threshold: what it had to wait for counts no
// more.
func (w *Windows) Relieved(branch string) {
	w.floors.set(branch, 0)
	w.quiet.set(branch, 0)
}

func (w *Windows) worthKeeping() bool { return w.least.any() || w.floors.any() }

// sizes are numbers of tokens by name. The zero value is empty.
type sizes struct {
	mu     sync.Mutex
	byName map[string]int
}

func (s *sizes) get(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name]
}

// set notes a size; 0 forgets it.
func (s *sizes) set(name string, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size == 0 {
		delete(s.byName, name)
		return
	}
	if s.byName == nil {
		s.byName = map[string]int{}
	}
	s.byName[name] = size
}

func (s *sizes) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.byName)
}

func (s *sizes) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byName) > 0
}
