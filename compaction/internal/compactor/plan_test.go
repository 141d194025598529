package compactor

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// moment is a snapshot of a history under a policy of 5 invocations with an overlap of 2, at most 3
// summaries, and limits that no prompt reaches.
func moment(h *ct.History) *snapshot {
	v := view.New(h.Events)
	s := &snapshot{
		state: v.State(), branches: meter.BranchesOf(h.Events), maxSummaries: 3,
		limits: &meter.Limits{HardLimit: 1 << 30, Capacity: 1 << 30, Margin: 100, SummaryTokens: 50},
		params: selector.Params{
			Threshold: 5, Overlap: 2, Retain: 2, Size: promptsize.OfEvent,
			MinTokens: func(string) int { return leastWindow() },
		},
	}
	s.input = inputOf(s.state)
	s.at = selector.Positions(s.input, s.params)
	m := meter.New(v, meter.NewSession(s.limits, &learned.Facts{}, nil))
	s.measure = func(reader string) (meter.Prompt, bool) {
		size := m.Prompt(reader)
		return size, s.limits.Threshold > 0 && size.Likely >= s.limits.Threshold
	}
	return s
}

func (s *snapshot) size() int {
	size, _ := s.measure("")
	return size.Likely
}

// overThreshold lets the prompt be over the threshold, and overLimit over the hard limit as well,
// for certain, in a job that a turn waits for. nearLimit lets it be over the hard limit only if
// estimates are off, with the token trigger off.
func overThreshold(s *snapshot) { s.limits.Threshold = s.size() }

func overLimit(s *snapshot) {
	s.job.Forced = true
	s.limits.Threshold, s.limits.HardLimit, s.limits.Capacity = s.size()/2, s.size(), s.size()*2
}

func nearLimit(s *snapshot) {
	s.job.Forced = true
	s.limits.HardLimit, s.limits.Capacity = s.size()+1, s.size()*2
}

// long is a text of some 100 tokens.
func long(about string) string { return strings.Repeat("The price of "+about+" is 12 EUR. ", 12) }

// talk is a conversation of so many long turns.
func talk(turns int) *ct.History {
	h := &ct.History{}
	for i := range turns {
		h.Turn(fmt.Sprint("inv", i+1), "bot", long("flowers"), long("bread"))
	}
	return h
}

// summarized is a conversation whose first turns have a summary each, and raw turns follow.
func summarized(summaries, raw int, text string) *ct.History {
	h := &ct.History{}
	for i := range summaries {
		h.Turn(fmt.Sprint("old", i+1), "bot", long("flowers"), long("bread"))
		turn := h.Events[len(h.Events)-2:]
		h.Compact(fmt.Sprint("r", i+1), turn[0].ID, turn[1].ID).Amend(func(m *record.Metadata) {
			if err := m.SetText(text); err != nil {
				panic(err)
			}
		})
	}
	for i := range raw {
		h.Turn(fmt.Sprint("inv", i+1), "bot", long("flowers"), long("bread"))
	}
	return h
}

func TestPlan(t *testing.T) {
	t.Parallel()
	seen, reasons := map[action]bool{}, map[string]bool{}
	for _, row := range []struct {
		name    string
		history *ct.History
		change  []func(*snapshot)
		want    action
		reason  string
		check   func(s *snapshot, st step) bool // nil for none
	}{
		{name: "four turns", history: talk(4), want: nothing},
		{name: "five turns", history: talk(5), want: summarize, check: func(_ *snapshot, st step) bool {
			return len(st.window.Events) == 6 && st.candidate.trigger == record.TriggerInvocations && !st.makesRoom
		}},
		{name: "five turns, and no room", history: summarized(3, 5, "Short."), want: mergeSummary, check: func(_ *snapshot, st step) bool {
			return st.makesRoom && len(st.window.Absorb) == 2 && len(st.candidate.Events) == 6 && st.otherwise == nil
		}},
		{name: "room was made", history: summarized(2, 5, "Short."), want: summarize, change: []func(*snapshot){func(s *snapshot) {
			c := s.findDue()
			s.chosen = &c
		}}, check: func(_ *snapshot, st step) bool { return len(st.window.Events) == 6 }},
		{name: "a rolling summary", history: summarized(1, 5, "Short."), want: summarize, change: []func(*snapshot){func(s *snapshot) {
			s.maxSummaries = 1
		}}, check: func(_ *snapshot, st step) bool { return len(st.window.Absorb) == 1 }},

		{name: "a finished task", history: finished(3), want: summarize, change: []func(*snapshot){asking(0)}, check: func(_ *snapshot, st step) bool {
			return st.candidate.trigger == record.TriggerCheckpoint && st.candidate.kind == record.KindCheckpoint && st.candidate.note == "all of it" && len(st.window.Events) == 6
		}},
		{name: "a finished task, and five turns", history: finished(7), want: summarize, change: []func(*snapshot){asking(0)}, check: func(_ *snapshot, st step) bool {
			return st.candidate.trigger == record.TriggerCheckpoint && len(st.window.Events) == 14
		}},
		{name: "a finished task, and no room", history: finishedAfter(summarized(3, 3, "Short.")), want: mergeSummary, change: []func(*snapshot){asking(0)}, check: func(_ *snapshot, st step) bool {
			return st.makesRoom && st.candidate.kind == record.KindCheckpoint && len(st.candidate.Events) == 6
		}},
		{name: "a finished task under the minimum", history: finished(3), want: nothing, change: []func(*snapshot){asking(1 << 20)}},
		{name: "a finished task of one turn", history: finished(0), want: nothing, change: []func(*snapshot){asking(0)}, check: func(s *snapshot, _ step) bool { return s.waitsForCheckpoint() }},
		{name: "a finished task in a turn that goes on", history: cutOff(finished(3)), want: nothing, change: []func(*snapshot){func(s *snapshot) {
			s.params.Running = func(id string) bool { return id == "done" }
		}, asking(0)}, check: func(s *snapshot, _ step) bool { return s.waitsForCheckpoint() }},
		{name: "a finished task in a turn that was cut off", history: cutOff(finished(3)), want: summarize, change: []func(*snapshot){asking(0)}, check: func(_ *snapshot, st step) bool {
			return len(st.window.Events) == 6
		}},
		{name: "a finished task, too large to read at once", history: finished(6), want: summarize, change: []func(*snapshot){func(s *snapshot) {
			s.params.Cost, s.params.MaxTokens = promptsize.OfEvent, 500
		}, asking(100)}, check: func(_ *snapshot, st step) bool {
			return st.candidate.trigger == record.TriggerCheckpoint && st.candidate.kind == "" && st.candidate.note == ""
		}},
		{name: "a finished task that has its checkpoint", history: answered(finished(3)), want: nothing, change: []func(*snapshot){asking(0)}, check: func(s *snapshot, _ step) bool {
			return !s.waitsForCheckpoint()
		}},

		{name: "over the threshold", history: talk(4), want: summarize, change: []func(*snapshot){overThreshold}, check: func(_ *snapshot, st step) bool {
			return st.candidate.trigger == record.TriggerTokens && len(st.window.Events) == 6
		}},
		{
			name: "over the threshold, and all is new", history: talk(1), want: wait, reason: string(selector.NothingEligible),
			change: []func(*snapshot){overThreshold},
			check:  func(s *snapshot, st step) bool { return st.until == s.size()+s.size()/100 },
		},
		{
			name:    "over the threshold, held by an open call",
			history: (&ct.History{}).User("inv1", "Go.").LongCall("inv1", "bot", "ask", "c1").Response("inv1", "bot", "ask", "pending", "c1").Turn("inv2", "bot", "And?", "Wait."),
			want:    wait, reason: string(selector.Blocked),
			change: []func(*snapshot){overThreshold, func(s *snapshot) { s.params.Pin = func(ev *session.Event) bool { return ev.Author == "user" } }},
		},
		{
			name: "over the threshold, too large to read", history: talk(3), want: wait, reason: string(selector.TooLarge),
			change: []func(*snapshot){overThreshold, func(s *snapshot) { s.params.Cost, s.params.MaxTokens = promptsize.OfEvent, 10 }},
		},
		{ // the reason was reported when the summary came out too long
			name: "over the threshold, tried before", history: talk(3), want: wait,
			change: []func(*snapshot){overThreshold, func(s *snapshot) { s.params.MinTokens = func(string) int { return 1 << 30 } }},
		},

		{
			name: "near the limit, with little to gain", history: talk(4), want: wait,
			reason: "prompt may be over the hard limit, and the window is too small to change that",
			change: []func(*snapshot){nearLimit, func(s *snapshot) { s.limits.Margin = 1 << 30 }},
		},
		{
			name: "far over the window", history: talk(4), want: wait,
			reason: "prompt exceeds the context window, and all that may be summarized is too little to change that",
			change: []func(*snapshot){nearLimit, func(s *snapshot) { s.limits.HardLimit, s.limits.Capacity = 10, 10 }},
		},
		{name: "over the limit, tried before", history: talk(4), want: summarize, change: []func(*snapshot){overLimit, func(s *snapshot) {
			s.params.MinTokens = func(string) int { return 1 << 30 }
		}}, check: func(_ *snapshot, st step) bool { return st.extractive }},
		{name: "over the limit, too large to read", history: talk(4), want: summarize, change: []func(*snapshot){overLimit, func(s *snapshot) {
			s.params.Cost, s.params.MaxTokens = promptsize.OfEvent, 10
		}}, check: func(_ *snapshot, st step) bool { return st.extractive && st.candidate.Unbounded }},
		{name: "over the limit, a small window", history: summarized(1, 1, long("summaries")).Turn("inv2", "bot", "And?", "No.").Turn("inv3", "bot", "Really?", "Yes."), want: summarize, change: []func(*snapshot){overLimit, func(s *snapshot) {
			s.params.MinTokens = nil
			s.params.Pin = func(ev *session.Event) bool { return promptsize.OfEvent(ev) > 50 }
			s.params.Retain = 0
		}}, check: func(_ *snapshot, st step) bool { return len(st.window.Absorb) == 1 }},
		{
			name: "over the limit, nothing but summaries", history: summarized(2, 1, long("summaries")), want: mergeSummary,
			change: []func(*snapshot){overLimit, func(s *snapshot) { s.params.Pin = func(*session.Event) bool { return true } }},
			check:  func(_ *snapshot, st step) bool { return !st.makesRoom && st.otherwise.action == wait && st.overLimit },
		},
		{
			name: "over the limit, nothing but one summary", history: summarized(1, 1, long("summaries")), want: shrink,
			change: []func(*snapshot){overLimit, func(s *snapshot) { s.params.Pin = func(*session.Event) bool { return true } }},
			check: func(_ *snapshot, st step) bool {
				return len(st.window.Absorb) == 1 && st.shorter >= meter.MinSummary && st.shorter <= st.window.Tokens/2
			},
		},
		{
			name: "over the limit, nothing but a short summary", history: summarized(1, 1, "Short."), want: wait, reason: string(selector.NothingEligible),
			change: []func(*snapshot){overLimit, func(s *snapshot) { s.params.Pin = func(*session.Event) bool { return true } }},
			check:  func(_ *snapshot, st step) bool { return st.extractive },
		},
		{
			name: "over the limit, exact values", history: listing(), want: rewrite,
			change: []func(*snapshot){overLimit, func(s *snapshot) { s.params.Pin = func(*session.Event) bool { return true } }},
			check: func(_ *snapshot, st step) bool {
				return st.given == long("summaries") && st.noValues && st.otherwise.action == wait
			},
		},
		{name: "a cut summary, and room", history: cutShort(), want: rewrite, check: func(_ *snapshot, st step) bool {
			return st.given == long("all") && !st.noValues && len(st.window.Absorb) == 1 && st.otherwise.action == nothing
		}},
		{name: "a cut summary, and no room for the values", history: cutShort(), want: rewrite, change: []func(*snapshot){func(s *snapshot) {
			s.limits.Threshold, s.limits.LedgerTokens = 3*s.size(), 3*s.size()
		}}, check: func(_ *snapshot, st step) bool { return st.given == long("all") && st.noValues }},
		{name: "a cut summary, and no room", history: cutShort(), want: nothing, change: []func(*snapshot){func(s *snapshot) { s.limits.Threshold = s.size() + 10 }}},
		{name: "a cut summary, and the limit near", history: cutShort(), want: nothing, change: []func(*snapshot){func(s *snapshot) { s.limits.HardLimit = s.size() + s.size()/5 }}},
		{name: "a cut summary, in a turn that waited", history: cutShort(), want: rewrite, change: []func(*snapshot){func(s *snapshot) { s.job.Forced = true }}},
		{
			name: "a worthless window, and summaries", history: summarized(2, 3, long("summaries")), want: mergeSummary,
			change: []func(*snapshot){overLimit, worthless},
			check:  func(_ *snapshot, st step) bool { return st.otherwise.action == nothing && st.otherwise.reason == "" },
		},
		{name: "a worthless window, and none", history: talk(4), want: nothing, change: []func(*snapshot){overLimit, worthless}},
	} {
		s := moment(row.history)
		for _, change := range row.change {
			change(s)
		}
		s.at = selector.Positions(s.input, s.params)
		got := plan(*s)
		if got.action != row.want || got.reason != row.reason || row.check != nil && !row.check(s, got) {
			t.Errorf("%s: planned %+v, want action %d, reason %q", row.name, got, row.want, row.reason)
		}
		if again := plan(*s); fmt.Sprintf("%+v", again.window) != fmt.Sprintf("%+v", got.window) || again.action != got.action {
			t.Errorf("%s: the same snapshot leads to another step", row.name)
		}
		seen[got.action], reasons[got.reason] = true, true
	}
	if len(seen) != int(rewrite)+1 {
		t.Errorf("the table has the actions %v only", seen)
	}
	for _, reason := range []selector.Reason{selector.NothingEligible, selector.Blocked, selector.TooLarge} {
		if !reasons[string(reason)] {
			t.Errorf("the table lacks the reason %q", reason)
		}
	}
}

// cutShort is a conversation whose first turn has a summary that was cut.
func cutShort() *ct.History {
	h := talk(1)
	return h.Compact("r1", ct.IDs(h.Events)...).Amend(func(m *record.Metadata) { m.Uncut = long("all") }).Turn("inv2", "bot", "And?", "No.")
}

// listing is a conversation whose first turn has a summary with exact values behind it.
func listing() *ct.History {
	h := talk(1)
	h.Compact("r1", ct.IDs(h.Events)...).Amend(func(m *record.Metadata) {
		m.LedgerTokens = 600
		for i := range 20 {
			m.Values = append(m.Values, record.Value{Text: fmt.Sprintf("order ORD-%d17", i), Kind: "identifier", Score: 1})
		}
		if err := m.SetText(long("summaries")); err != nil {
			panic(err)
		}
	})
	return h.Turn("inv2", "bot", long("flowers"), long("bread"))
}

// finished is a conversation of so many turns and one in which the model reports that all of it is done.
func finished(turns int) *ct.History { return finishedAfter(talk(turns)) }

func finishedAfter(h *ct.History) *ct.History {
	h.User("done", "Finish it.").Call("done", "bot", "mark", "c1")
	h.Last().Content.Parts[0].FunctionCall.Args = map[string]any{selector.DetailArg: "all of it"}
	return h.Response("done", "bot", "mark", "Noted.", "c1").Agent("done", "bot", "It is done.")
}

// cutOff is a conversation without its last event.
func cutOff(h *ct.History) *ct.History {
	h.Events = h.Events[:len(h.Events)-1]
	return h
}

// answered adds the checkpoint over all turns before the newest.
func answered(h *ct.History) *ct.History {
	through := record.RefTo(h.Last())
	return h.Compact("cp", ct.IDs(h.Events[:len(h.Events)-4])...).Amend(func(m *record.Metadata) { m.Kind, m.Through = record.KindCheckpoint, through })
}

// asking looks for calls of the tool mark.
func asking(minTokens int) func(*snapshot) {
	return func(s *snapshot) { s.asked = checkpointsIn(s.input, s.params, "mark", minTokens) }
}

// worthless says that the largest window was tried without a model, in vain.
func worthless(s *snapshot) {
	s.job.Extractive = true
	c := s.findDue()
	s.chosen, s.worthless = &c, true
}

// A compaction that leaves the prompt over the threshold raises the floor by a tenth, unless more
// waits.
func TestFloorAfterACompaction(t *testing.T) {
	t.Parallel()
	tokens := candidate{trigger: record.TriggerTokens}
	for _, row := range []struct {
		name string
		done candidate
		over bool
		want bool
	}{
		{"under the threshold", tokens, false, false},
		{"over the threshold", tokens, true, true},
		{"set off by turns", candidate{trigger: record.TriggerInvocations}, true, false},
		{"more waits in the branch", candidate{trigger: record.TriggerTokens, Relief: selector.Relief{Selection: selector.Selection{Cut: true}}}, true, false},
		{"more waits in another branch", candidate{trigger: record.TriggerTokens, Relief: selector.Relief{Selection: selector.Selection{Branch: "other"}}}, true, false},
	} {
		s := moment(talk(4))
		s.limits.Threshold = s.size() + 1
		if row.over {
			overThreshold(s)
		}
		want := 0
		if row.want {
			want = s.size() + s.size()/10
		}
		if got := s.floorAfter(row.done); got != want {
			t.Errorf("%s: the floor is %d, want %d", row.name, got, want)
		}
	}
}
