package selector

// LiveInvocations returns the IDs of the invocations that may still send prompts.
func LiveInvocations(h History, p Params) map[string]bool {
	s := newSurvey(h, p)
	out := map[string]bool{}
	for _, v := range s.invocations {
		if v.live() {
			out[v.id] = true
		}
	}
	return out
}
