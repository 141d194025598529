package meter

import (
	"slices"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

// Meter measures the prompts that agents would send of one view of a session. It keeps what it has
// measured, and adds what was appended to the view since.
type Meter struct {
	view    *view.View
	session *Session

	mu       sync.Mutex
	branches []string // of the part of the view that was seen
	seen     extent
	tallies  map[string]*tally // by branch
	learned  map[string]int    // events of the history at the last Learn, by branch
}

// extent is a part of a view: its first events, in one generation of the view.
type extent struct{ generation, length int }

// covers reports whether the part is still part of a view of that generation and length.
func (e extent) covers(generation, length int) bool {
	return e.generation == generation && e.length <= length
}

// New returns a Meter for a view of a session.
func New(v *view.View, s *Session) *Meter {
	return &Meter{view: v, session: s, tallies: map[string]*tally{}, learned: map[string]int{}}
}

// Branches are those of the visible events, the root's first. The caller must not change them.
func (m *Meter) Branches() []string {
	events, generation := m.view.Version()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.seen.covers(generation, events.Len()) || m.branches == nil {
		m.branches, m.seen = nil, extent{generation: generation}
	}
	m.branches = addBranches(m.branches, events.Slice()[m.seen.length:])
	m.seen.length = events.Len()
	return slices.Clip(m.branches)
}

// BranchesOf are those of events, the root's first.
func BranchesOf(events []*session.Event) []string { return addBranches(nil, events) }

// addBranches adds the branches of more events to known ones. Where none are known it begins with
// the root's.
func addBranches(known []string, events []*session.Event) []string {
	if known == nil {
		known = []string{""}
	}
	for _, ev := range events {
		if !slices.Contains(known, adk.Lane(ev)) {
			known = append(known, adk.Lane(ev))
		}
	}
	return known
}

// Prompt is the size of the largest prompt that an agent in the branch would send now.
func (m *Meter) Prompt(branch string) Prompt {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tally(branch)
	size := t.prompt()
	if t.account != nil {
		limits := m.session.Limits()
		size.Economy, size.Retain, size.anew = t.account.economy(limits), t.account.mayStayRaw(limits), t.account.more(limits)
	}
	return size
}

// Room measures the part of the view that a reader sees, by estimate. size is how large it is, and most how large it may be
// for the prompt to stay within the hard limit as the provider counts it. over reports that it must become smaller: it is
// over that limit both by estimate and by what was counted, and no plugin is known to cut it. If sent is true, it must also
// if the prompt is likely to be over all that the window can take. Where branches run side by side that is not certain: a
// compaction may be under way in one of them, and the root's prompt holds more than any that is sent.
func (m *Meter) Room(reader string, sent bool) (size, most int, over bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, limits := m.tally(reader), m.session.Limits()
	prompt, whole := t.prompt(), t.whole()
	excess := prompt.EstimateOf(max(prompt.Likely, whole.Likely) - limits.HardLimit)
	if whole.Likely >= t.estimate {
		excess = max(excess, t.estimate-limits.HardLimit)
	}
	over = min(t.estimate, whole.Likely) > limits.HardLimit && !(t.isCut() && prompt.Likely <= limits.HardLimit)
	return t.estimate, max(0, t.estimate-excess), over || sent && prompt.Likely > limits.Capacity
}

// CallsLeft is after how many calls of agents in the branch a compaction pays if the prompt goes on to grow as it has;
// 0 if it does now, -1 if that is not within sight or prices are not known.
func (m *Meter) CallsLeft(branch string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tally(branch)
	if t.account == nil {
		return -1
	}
	return t.account.callsLeft(m.session.Limits())
}

// tally brings the tally of a branch up to date. The caller holds mu.
func (m *Meter) tally(branch string) *tally {
	events, generation := m.view.Version()
	t := m.tallies[branch]
	limits := m.session.Limits()
	if t == nil || !t.measured.covers(generation, events.Len()) || t.account == nil && limits.Prices.Decide() {
		t = newTally(m.session, branch, generation)
		m.tallies[branch] = t
		if limits.Prices.Decide() {
			t.open(m.view.State(), limits)
			defer t.opened()
		}
		t.add(events.Slice(), present(m.view, branch))
	} else {
		t.requests = m.session.requestsIn(branch)
		t.add(events.From(t.measured.length).Slice(), appended)
	}
	t.measured.length = events.Len()
	m.session.noteEstimate(branch, t.estimate)
	return t
}

// Doubt judges the count that the newest event of the view has. It reports one that cannot be right
// once for each agent, and again after some that are believed.
func (m *Meter) Doubt(ev *session.Event, class adk.Class) (what Misreport, news bool) {
	if ev.UsageMetadata == nil || ev.UsageMetadata.PromptTokenCount <= 0 || m.session.learned.Events.Stale(ev) {
		return Misreport{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tally(adk.Lane(ev))
	count, expected, v, reported := t.judge(ev, class, t.estimate-t.newest)
	if !reported || !m.session.isNews(ev.Author, v) {
		return Misreport{}, false
	}
	return Misreport{Counted: count, Estimated: expected, TooHigh: v == tooHigh}, true
}

// Learn keeps what providers have counted for prompts that events of the branch changing are part
// of. It must be called before a compaction of that branch changes the view. Counts in other
// branches stay where they are: learned with each compaction of a sibling, two counts would pass
// for a line that is known for certain.
func (m *Meter) Learn(changing string) {
	raw := m.view.Raw()
	m.mu.Lock()
	before, again := m.learned[changing]
	m.learned[changing] = len(raw)
	m.mu.Unlock()
	if again && !slices.ContainsFunc(raw[min(before, len(raw)):], func(ev *session.Event) bool { return ev != nil && ev.UsageMetadata != nil }) {
		return // a pass over the view for each record of a long history
	}
	events := m.view.Events().Slice()
	for _, branch := range BranchesOf(events) {
		if !adk.Visible(branch, changing) {
			continue
		}
		t := newTally(m.session, branch, 0)
		t.add(events, present(m.view, branch))
		t.forgetSilent()
		m.session.learn(t)
	}
}
