package budget

import (
	"cmp"
	"context"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// Cause is why a request does not extend the one before it.
type Cause string

// The causes. Each break has exactly one: that of the first place at which the requests differ, in the
// order instruction, tools, contents.
const (
	// CauseInstruction: the system instruction has changed. [PrefixBreak.Section] is the section. For the
	// base, look for what ADK adds to it anew in each request: a template with state in the instruction, and
	// the tools load_artifacts (a list of artifacts), preload_memory (what it has found) and the skill
	// toolset (a list of skills). What those list is better put into a section of package prompt, or
	// returned by a tool.
	CauseInstruction Cause = "instruction changed"
	// CauseTools: a declaration has changed, or there are more, fewer, or in another order. The tools of recall
	// appear with the first summary, which would have broken the prefix at the first content.
	// [PrefixBreak.Section] is the name of the first that differs.
	CauseTools Cause = "tools changed"
	// CauseRebuilt: the session was compacted and the request built anew, because it was too large.
	CauseRebuilt Cause = "rebuilt"
	// CauseDropped: messages were left out as the last resort, or are there again.
	CauseDropped Cause = "dropped"
	// CauseMasked: a batch of old results was masked, or is shown again.
	CauseMasked Cause = "masking batch"
	// CauseCompacted: the view shows a new summary, or one less.
	CauseCompacted Cause = "compaction"
	// CauseLateAnswer: a response has arrived or changed where another content was, such as the
	// answer to a long-running call in place of its stand-in.
	CauseLateAnswer Cause = "late answer"
	// CauseOther: for example, the app has edited or rewound the session, or a callback of its own
	// changes requests, or the agent is not shown earlier turns (IncludeContents none).
	CauseOther Cause = "other"
)

// PrefixBreak is a request that does not extend the last request of the same agent in the same branch of
// a session. The provider's prompt cache is of no use from there on.
type PrefixBreak struct {
	Agent, Branch string
	// At is the index of the first content that differs, -1 if the instruction or the tools do.
	At    int
	Cause Cause
	// Section is what differs first: for CauseInstruction a section of the instruction, "base" for the part
	// that ADK has built, for CauseTools a tool. A section or tool that is gone is named, too. It is empty
	// for all other causes.
	Section string
	// Lost is how many tokens of the last request lie behind the place, by estimate: they must be
	// read anew, or are gone.
	Lost int
}

// actions are what the wrapper did to a request before it is sent.
type actions uint8

const (
	didRebuild actions = 1 << iota // compacted, and built anew
	didDrop                        // left out messages
	didMaskAll                     // masked without batches
)

// traits are what a content of a request is.
type traits uint8

const (
	isSummary  traits = 1 << iota // of compacted events
	isResponse                    // holds a function response
	isMasked                      // holds a response whose result is masked
	isModel                       // has the role of the model
)

// traitsOf returns the traits of a content, and how many of its responses are masked.
func traitsOf(c *genai.Content) (t traits, masked int32) {
	if c == nil {
		return 0, 0
	}
	if promptsize.IsSummary(c) {
		t |= isSummary
	}
	if c.Role == genai.RoleModel {
		t |= isModel
	}
	for _, p := range c.Parts {
		if p != nil && p.FunctionResponse != nil {
			t |= isResponse
			if toolresult.IsMasked(p.FunctionResponse.Response) {
				t |= isMasked
				masked++
			}
		}
	}
	return t, masked
}

// lastRequest is the last request of a caller that was sent.
type lastRequest struct {
	sent   bool
	pieces []piece
	fixed  int       // estimate of instruction and tools
	hashes [2]uint64 // of instruction and tools
	named  [2]named  // their parts and declarations
	did    actions
	// budget is its size, and used what it and its answer are expected to take up in the next.
	budget     Budget
	used       int
	ratio      float64 // expected tokens per estimated one
	canCompact bool
	// For [Meter.Ahead]: what the view held, the request's model, and the estimate of its contents.
	view     viewMark
	model    string
	contents int
}

// sent notes the request that is about to be sent, reports it, and reports if it breaks the prefix.
func (m *Meter) sent(ctx context.Context, c caller, got measured, did actions) {
	m.warnIfAssumed(ctx, c)
	o := c.observation(Sent)
	o.Budget, o.Estimated = got.Budget, got.estimate()
	m.observe(ctx, o)
	if !c.known() {
		return
	}
	s := m.stateOf(c)
	sections := c.sections
	if sections == nil {
		sections = m.cfg.sectionsIn(ctx, &m.places)
	}
	s.mu.Lock()
	before := s.last
	now := lastRequest{
		sent: true, pieces: got.pieces, fixed: got.fixed, hashes: [2]uint64{got.instruction.hash, got.tools}, did: did,
		named:  before.next(got, sections),
		budget: got.Budget, used: got.UsedTokens(), ratio: 1, canCompact: got.canCompact,
	}
	if estimate := got.estimate(); estimate > 0 {
		now.ratio = float64(now.used) / float64(estimate)
	}
	s.last = now
	s.mu.Unlock()
	m.agents.Add(agentKey{c.ref.AppName, c.agent}, got.fixed)
	// The answer to the request before has counted when it came.
	grown := int(now.ratio*float64(added(before, now))) - max(0, before.used-before.budget.UsedTokens())
	raw, summarized := rawTurns(now.pieces)
	m.Tracker(c.ref).sent(got.Budget, max(0, grown), raw, summarized)
	broken := compare(before, now)
	if broken == nil {
		return
	}
	broken.Agent, broken.Branch = c.agent, c.branch
	o = c.observation(PrefixBroken)
	o.Budget, o.Break = got.Budget, broken
	m.observe(ctx, o)
}

// added is the estimate of what a request has new at its end. Of the first request that is seen of a
// session, these are the contents behind the model's last words.
func added(before, now lastRequest) int {
	if before.sent {
		return newTokens(before.pieces, now.pieces)
	}
	sum := 0
	for i := len(now.pieces) - 1; i >= 0 && now.pieces[i].traits&isModel == 0; i-- {
		sum += int(now.pieces[i].size)
	}
	return sum
}

// rawTurns is how many turns a request has that no summary has, and whether it has a summary in front. A turn begins
// with words of the user, which may be more than one content.
func rawTurns(pieces []piece) (turns int, summarized bool) {
	inTurn := false
	for _, p := range pieces {
		words := p.traits&(isModel|isResponse|isSummary) == 0
		summarized = summarized || p.traits&isSummary != 0
		if words && !inTurn {
			turns++
		}
		inTurn = words
	}
	return turns, summarized
}

// compare returns where a request breaks the prefix of the one before it, nil if it extends that.
func compare(before, now lastRequest) *PrefixBreak {
	if !before.sent {
		return nil
	}
	if before.hashes[0] != now.hashes[0] {
		section := cmp.Or(before.named[0].differs(now.named[0]), "base")
		return &PrefixBreak{At: -1, Cause: CauseInstruction, Section: section, Lost: before.fixed + lost(before.pieces, 0)}
	}
	if before.hashes[1] != now.hashes[1] {
		return &PrefixBreak{At: -1, Cause: CauseTools, Section: before.named[1].differs(now.named[1]), Lost: before.fixed + lost(before.pieces, 0)}
	}
	at := 0
	for at < len(before.pieces) && at < len(now.pieces) && before.pieces[at].hash == now.pieces[at].hash {
		at++
	}
	if at == len(before.pieces) {
		return nil
	}
	return &PrefixBreak{At: at, Cause: causeOf(before, now, at), Lost: lost(before.pieces, at)}
}

func lost(pieces []piece, from int) int {
	sum := 0
	for _, p := range pieces[from:] {
		sum += int(p.size)
	}
	return sum
}

// causeOf finds out why two requests differ from a content on.
func causeOf(before, now lastRequest, at int) Cause {
	old, oldMasked := before.pieces[at].traits, before.pieces[at].masked
	var present traits
	var masked int32
	if at < len(now.pieces) {
		present, masked = now.pieces[at].traits, now.pieces[at].masked
	}
	switch {
	case now.did&didRebuild != 0:
		return CauseRebuilt
	case now.did&didDrop != 0:
		return CauseDropped
	case now.did&didMaskAll != 0:
		return CauseMasked
	case (old|present)&isSummary != 0:
		return CauseCompacted
	case oldMasked != masked && old&present&isResponse != 0: // of parallel responses, a batch may mask some and later the others
		return CauseMasked
	case before.did&didDrop != 0:
		return CauseDropped
	case before.did&didMaskAll != 0:
		return CauseMasked
	case present&isResponse != 0:
		return CauseLateAnswer
	}
	return CauseOther
}
