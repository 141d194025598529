package oracle

import "slices"

// entry is an entry of the view, with the position of its stored event or -1.
type entry struct {
	position int
	Shown
}

// inOrder returns the visible events in the order of the backend.
func (h *history) inOrder() []entry {
	var out []entry
	for i, ev := range h.events {
		if conversation(ev) && !h.hidden[i] {
			out = append(out, entry{i, Shown{Event: ev}})
			if made := h.standIns(i); made != nil {
				out = append(out, entry{i, Shown{Event: ev, StandIns: made}})
			}
		}
	}
	return out
}

// free takes a mid-turn summary from its anchor if a late answer follows to a call that would be shown before the
// summary: ADK would leave the summary out of a prompt that ends with that answer.
func (h *history) free() {
	for _, r := range h.summaries() {
		if r.anchor < 0 {
			continue
		}
		place := h.place(r.anchor)
		for i := 0; i <= place; i++ {
			if end := h.lastResponse(i); len(CallIDs(h.events[i])) > 0 && end > place && !h.hidden[end] && (resumes || h.events[end].InvocationID != h.events[i].InvocationID) {
				r.anchor = -1
				break
			}
		}
	}
}

// place returns the position of the event that placeRounds shows a summary behind: its anchor, or a later event of the
// anchor's unit with no other in between.
func (h *history) place(anchor int) int {
	place := anchor
	for j := anchor + 1; j < len(h.events); j++ {
		switch {
		case !conversation(h.events[j]) || h.hidden[j]:
		case h.unit[j] == h.unit[anchor]:
			place = j
		default:
			return place
		}
	}
	return place
}

// lastResponse returns the position of the latest response in the unit of i, -1 if there is none.
func (h *history) lastResponse(i int) int {
	end := -1
	for j := range h.events {
		if h.unit[j] == h.unit[i] && len(ResponseIDs(h.events[j])) > 0 {
			end = j
		}
	}
	return end
}

// placeRounds inserts mid-turn summaries behind their anchors, but never inside a unit.
func (h *history) placeRounds(shown []entry) []entry {
	behind := map[int][]entry{}
	for _, r := range h.summaries() {
		if r.anchor >= 0 {
			behind[r.anchor] = append(behind[r.anchor], entry{-1, Shown{Record: r.Metadata, Standing: true}})
		}
	}
	var out, waiting []entry
	for k, e := range shown {
		out = append(out, e)
		if e.StandIns == nil {
			waiting = append(waiting, behind[e.position]...)
		}
		if k+1 == len(shown) || h.unit[shown[k+1].position] != h.unit[e.position] {
			out, waiting = append(out, waiting...), nil
		}
	}
	return out
}

// putAhead puts the other summaries in front. In front of each it puts the words of remote agents
// from before the end of the summary's span, unless an earlier summary has them already, or a visible answer of the
// user stands before them: ADK would send that answer to the remote agent a second time.
func (h *history) putAhead(shown []entry) (out []Shown) {
	for _, r := range h.summaries() {
		if r.anchor >= 0 {
			continue
		}
		for k := 0; k < len(shown) && !usersAnswer(shown[k].Event); k++ {
			if ev := shown[k].Event; ev != nil && shown[k].StandIns == nil && remoteWords(ev) && endsAfter(r.Metadata, ev) {
				out = append(out, shown[k].Shown)
				shown = slices.Delete(shown, k, k+1)
				k--
			}
		}
		out = append(out, Shown{Record: r.Metadata})
	}
	for _, e := range shown {
		out = append(out, e.Shown)
	}
	return out
}

// pairUp gives all events of a unit one number: a response belongs to the unit of its call.
func (h *history) pairUp() {
	for i := range h.events {
		h.unit = append(h.unit, i)
	}
	for i := range h.events {
		for _, id := range ResponseIDs(h.events[i]) {
			if j := h.callOf(i, id); j >= 0 {
				from, to := h.unit[i], h.unit[j]
				for k := range h.unit {
					if h.unit[k] == from {
						h.unit[k] = to
					}
				}
			}
		}
	}
}

// callOf returns the position of the call that a response at i answers: the nearest earlier call of
// its ID in its lane, else the nearest earlier one, else the last one; -1 if there is none.
func (h *history) callOf(i int, id string) int {
	here, earlier, any := -1, -1, -1
	for j, ev := range h.events {
		if !slices.Contains(CallIDs(h.events[j]), id) {
			continue
		}
		if any = j; j < i {
			if earlier = j; laneOf(ev) == laneOf(h.events[i]) {
				here = j
			}
		}
	}
	switch {
	case here >= 0:
		return here
	case earlier >= 0:
		return earlier
	}
	return any
}
