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

var MustStayInPlace = mustStayInPlace
var PositionBehind = positionBehind
