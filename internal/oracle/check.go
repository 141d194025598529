package oracle

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// Check compares a view with the full history it was made from, and returns every violation of the
// rules that a view must keep, joined; nil if there is none. Each error describes what a model or
// ADK would do wrong with such a view. Stored events of the view are the history's own, by pointer;
// every other event is taken for a summary or a stand-in.
//
// It changes nothing and is safe for concurrent use. Its time grows with the length of the history.
func Check(events, view []*session.Event) error {
	var errs []error
	for _, p := range Problems(events, view) {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// Rule is the rule that a problem violates.
type Rule string

// The rules.
const (
	// Hidden: every hidden event is represented by a visible summary.
	Hidden Rule = "hidden"
	// Formed: the view is well-formed for models and for ADK.
	Formed Rule = "formed"
	// Raw: events that must stay raw are visible.
	Raw Rule = "raw"
)

// Problem is one violation. It is an error that describes what a model or ADK would do wrong.
type Problem struct {
	Rule Rule
	// Event is the ID of the event or summary at fault, "" if there is none.
	Event string
	text  string
}

func (p *Problem) Error() string { return p.text }

// Problems is [Check] with the violations one by one.
func Problems(events, view []*session.Event) []*Problem {
	c := newChecker(events, view)
	c.checkMembers()
	c.checkTexts()
	c.checkLedgers()
	c.checkHidden()
	c.checkPairs()
	c.checkAnswered()
	c.checkEnds()
	c.checkOrder()
	c.checkRemote()
	return c.problems
}

type checker struct {
	events, view []*session.Event
	records      map[string]*record.Metadata
	visible      map[*session.Event]bool
	summaries    map[*session.Event]*record.Metadata
	// standIns are the view's stand-ins.
	standIns map[*session.Event]bool
	// answered are the calls with a stored response, confirms those with a request for a
	// confirmation.
	answered map[answer]bool
	confirms map[string]bool
	// tasks are the calls that gave tasks to agents.
	tasks tasks
	// position and shown are the first index of an event in events and in view.
	position, shown map[*session.Event]int
	// named and placed are the events of conversation by ID and by place, calls the positions of the
	// events that make a call, by its ID.
	named    map[string][]*session.Event
	placed   map[record.AltKey][]*session.Event
	calls    map[string][]int
	problems []*Problem
}

func newChecker(events, view []*session.Event) *checker {
	c := &checker{
		events: events, view: view, records: map[string]*record.Metadata{},
		visible: map[*session.Event]bool{}, summaries: map[*session.Event]*record.Metadata{}, standIns: map[*session.Event]bool{},
		position: map[*session.Event]int{}, shown: map[*session.Event]int{},
		named: map[string][]*session.Event{}, placed: map[record.AltKey][]*session.Event{}, calls: map[string][]int{},
	}
	c.tasks = tasksIn(events)
	for i, ev := range events {
		c.note(i, ev)
	}
	for i, ev := range view {
		c.visible[ev] = true
		if _, twice := c.shown[ev]; !twice {
			c.shown[ev] = i
		}
		switch _, stored := c.position[ev]; {
		case ev == nil || stored:
		case IsStandIn(ev):
			c.standIns[ev] = true
		default:
			c.summaries[ev] = c.records[ev.ID]
		}
	}
	return c
}

// note adds the stored event at a position.
func (c *checker) note(i int, ev *session.Event) {
	if _, twice := c.position[ev]; !twice {
		c.position[ev] = i
	}
	if ev == nil {
		return
	}
	if m, err := record.From(ev); err == nil && m != nil {
		if _, twice := c.records[m.RecordID]; !twice {
			c.records[m.RecordID] = m
		}
	}
	for _, id := range CallIDs(ev) {
		if at := c.calls[id]; len(at) == 0 || at[len(at)-1] != i {
			c.calls[id] = append(at, i)
		}
	}
	if !record.Is(ev) {
		id, place := record.Normalize(ev.ID), record.RefTo(ev).AltKey()
		c.named[id] = append(c.named[id], ev)
		c.placed[place] = append(c.placed[place], ev)
	}
}

// problem adds a violation by an event, nil for none.
func (c *checker) problem(rule Rule, of *session.Event, format string, args ...any) {
	p := &Problem{Rule: rule, text: fmt.Sprintf(format, args...)}
	if of != nil {
		p.Event = of.ID
	}
	c.problems = append(c.problems, p)
}

// checkMembers: a view holds only stored events, summaries of stored records, and stand-ins.
func (c *checker) checkMembers() {
	seen := map[*session.Event]bool{}
	for i, ev := range c.view {
		switch m, summary := c.summaries[ev]; {
		case ev == nil:
			c.problem(Formed, ev, "view[%d] is nil: readers of a session do not expect that", i)
		case seen[ev]:
			c.problem(Formed, ev, "view[%d] (%s) is shown twice: the model reads it twice", i, ev.ID)
		case summary && m == nil:
			c.problem(Formed, ev, "view[%d] (%s) is neither a stored event nor the summary of a readable record", i, ev.ID)
		case summary && m.Branch != laneOf(ev):
			c.problem(Formed, ev, "summary %s of branch %q is shown in branch %q: it leaks to agents that must not see it", ev.ID, m.Branch, laneOf(ev))
		case summary && (ev.Content == nil || ev.Content.Role == "" || len(ev.Content.Parts) == 0):
			c.problem(Formed, ev, "summary %s has no role or no parts: ADK drops it from the prompt, and with it all it stands for", ev.ID)
		case !summary && !conversation(ev):
			c.problem(Formed, ev, "view[%d] (%s) is a record: bookkeeping is not conversation", i, ev.ID)
		}
		seen[ev] = true
	}
}

// checkHidden: every hidden event is represented by a visible summary.
func (c *checker) checkHidden() {
	standing := map[string]bool{}
	for _, m := range c.summaries {
		c.standsFor(m, standing, c.records)
	}
	covered := map[*session.Event]bool{}
	for id := range standing {
		m := c.records[id]
		for _, ref := range m.Covered {
			if ev := c.find(ref); ev != nil && record.Normalize(laneOf(ev)) == m.Branch && (!m.MidTurn() || record.Normalize(ev.Author) == m.Agent) {
				covered[ev] = true
			}
		}
	}
	for _, ev := range c.events {
		if !conversation(ev) || c.visible[ev] || covered[ev] {
			continue
		}
		c.problem(Hidden, ev, "event %s is hidden, but no visible summary stands for it: what it said is lost to the model", ev.ID)
	}
}

func (c *checker) standsFor(m *record.Metadata, seen map[string]bool, records map[string]*record.Metadata) {
	if m == nil || seen[m.RecordID] {
		return
	}
	seen[m.RecordID] = true
	for _, id := range m.Absorbed {
		if a := records[id]; a != nil && a.Branch == m.Branch {
			c.standsFor(a, seen, records)
		}
	}
}

// find returns the one event that a reference names, by ID if any event has it, else by place.
func (c *checker) find(ref record.Ref) *session.Event {
	found := c.placed[ref.AltKey()]
	if named := c.named[ref.ID]; ref.ID != "" && len(named) > 0 {
		found = named
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// checkEnds: ADK looks at the ends of a session to route a message and to build a prompt.
func (c *checker) checkEnds() {
	for i := len(c.view) - 1; i >= 0; i-- {
		ev := c.view[i]
		if ev == nil || ev.Author != "user" {
			continue
		}
		if _, summary := c.summaries[ev]; summary && c.hasUserEvent() {
			c.problem(Formed, ev, "the newest user event of the view is summary %s: ADK takes it for the user's message, approvals are lost", ev.ID)
		}
		break
	}
	for i := len(c.events) - 1; i >= 0; i-- {
		ev := c.events[i]
		if ev == nil || ev.Author == "user" || ev.Author == "" || record.Is(ev) {
			continue
		}
		if !c.visible[ev] {
			c.problem(Raw, ev, "the newest agent event %s is hidden: ADK routes the next message by it", ev.ID)
		}
		break
	}
	c.checkBeginning()
}

func (c *checker) hasUserEvent() bool {
	return slices.ContainsFunc(c.events, func(ev *session.Event) bool {
		return ev != nil && ev.Author == "user" && !record.Is(ev) && ev.Content != nil && len(ev.Content.Parts) > 0
	})
}

// checkOrder: stored events keep their order, except the words of remote agents that are shown in front of a later
// summary.
func (c *checker) checkOrder() {
	last := -1
	for k, ev := range c.view {
		i, stored := c.position[ev]
		if ev == nil || !stored || c.ahead(k) {
			continue
		}
		if i < last {
			c.problem(Formed, ev, "event %s is shown out of order: the conversation reads differently from what happened", ev.ID)
		}
		last = max(last, i)
	}
}
