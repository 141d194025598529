package selector

import (
	"slices"

	"github.com/adk-go-ext/longsession/record"
)

// rest is what a window leaves for the windows behind it.
type rest struct {
	of     *analysis
	params Params      // of the selection: those of a shared analysis change
	groups []unitGroup // behind the window, in order
	// least is how many invocations must be left for the next window, 0 for any number.
	least int
}

// Next returns the window that follows once s is summarized: the one that the same function would select from what is then
// visible, as long as nothing else happens in the session. It costs as much as it has events, however long the history is.
// Where invocations overlap, it goes by where they began, and not by what is left of them. It is empty if no window
// follows, and also if only another look can tell: behind a window that is not Cut, behind one of tool rounds, and while
// summaries of tool rounds are shown, which a window may absorb.
//
//	a history of 100,000 events    Invocations: 1 to 1,200, Cut    Next: 1,201 to 2,400, Cut    Next: ...
func (s *Selection) Next() Selection {
	r := s.rest
	if r == nil || !r.isEnough() {
		return Selection{Reason: NotDue, Branch: s.Branch, Through: s.Through, Missing: 1}
	}
	r.of.Params = r.params
	next, _ := r.of.pack(s.Branch, r.groups)
	if next.rest != nil {
		next.rest.least = r.least
	}
	return r.of.unlessTooSmall(next)
}

// isEnough reports whether the groups are of enough invocations for another window.
func (r *rest) isEnough() bool {
	owners := map[*invocation]bool{}
	for _, g := range r.groups {
		if len(owners) >= r.least {
			break
		}
		if g.speaks && r.of.fits(g) {
			owners[g.owner] = true
		}
	}
	return len(owners) >= r.least
}

// restBehind is the rest of a window of earlier turns that the groups do not fit into; nil while summaries of tool rounds
// are shown.
func restBehind(a *analysis, groups []unitGroup) *rest {
	if slices.ContainsFunc(a.Current, (*record.Metadata).MidTurn) {
		return nil
	}
	return &rest{of: a, params: a.Params, groups: groups}
}
