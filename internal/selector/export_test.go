package selector

// ActiveInvocations returns the IDs of the active invocations.
func ActiveInvocations(h Input, p Params) map[string]bool {
	s := analyze(h, p)
	out := map[string]bool{}
	for _, v := range s.invocations {
		if v.active() {
			out[v.id] = true
		}
	}
	return out
}

const MaxAgents = maxAgents

// Bare returns a selection without what [Selection.Next] needs, which holds functions: these are never deeply equal.
func Bare(s Selection) Selection {
	s.rest = nil
	return s
}

var MustStayInPlace = mustStayInPlace
var PositionBehind = positionBehind
