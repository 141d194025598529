package selector

// LiveInvocations returns the IDs of the invocations that may still send prompts.
func LiveInvocations(h Input, p Params) map[string]bool {
	s := analyze(h, p)
	out := map[string]bool{}
	for _, v := range s.invocations {
		if v.active() {
			out[v.id] = true
		}
	}
	return out
}
