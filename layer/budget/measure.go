package budget

import (
	"slices"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/tokens"
)

// state is what the meter knows about one agent in one branch of a session.
type state struct {
	mu          sync.Mutex
	memo        []piece // contents of the request that was measured last; elements never change
	instruction instruction
	calibration calibration
	last        lastRequest
	ahead       string // the invocation for whose next request [Meter.Ahead] has compacted the session
	note        noteState
}

// piece is one content of a request.
type piece struct {
	hash   uint64
	size   int32 // estimated tokens
	masked int32 // of its responses, those that are masked
	traits traits
}

// instruction is a measured system instruction.
type instruction struct {
	hash              uint64
	parts             []uint64 // their hashes
	all, skills, base int      // estimated tokens; base + skills = all
}

// measured is the size of one request.
type measured struct {
	// Budget has the components as the provider is expected to count them.
	Budget
	// atMost is what the request should not exceed, with the error of what is only estimated. atLeast is
	// the other end; 0 if no request of the agent was counted by its provider.
	atMost, atLeast int
	// contents and fixed are estimates that no provider's count has changed. They are the same in
	// every process.
	contents, fixed int
	pieces          []piece
	instruction     instruction
	tools           uint64 // hash of the declarations
	config          *genai.GenerateContentConfig
	canCompact      bool // the model is offered a tool by which it can free space
}

// estimate is the size of the whole request, without a provider's counts.
func (got measured) estimate() int { return got.contents + got.fixed }

// room is what masking needs to know of a request. It has no provider's counts, so that every process
// masks the same results. It does not look at the contents, so that those which are about to be masked need
// not be measured.
func (m *Meter) room(c caller, req *model.LLMRequest) toolresult.Room {
	instruction, tools, _ := m.fixed(c, req)
	return toolresult.Room{Effective: m.budgetOf(c.model, req).EffectiveWindow(), Fixed: instruction.all + tools}
}

// fixed measures what a request has besides its contents: the instruction, and the size and the hash of its
// declarations.
func (m *Meter) fixed(c caller, req *model.LLMRequest) (of instruction, tools int, hash uint64) {
	if req == nil || req.Config == nil {
		return instruction{}, 0, 0
	}
	tools, hash = promptsize.OfTools(req.Config.Tools)
	return m.instructionOf(m.stateOf(c), req.Config.SystemInstruction, c.sections), tools, hash
}

// measure returns the size of a request. It keeps the sizes of contents for the next time, and changes
// nothing else.
func (m *Meter) measure(c caller, req *model.LLMRequest) measured {
	s := m.stateOf(c)
	got := measured{Budget: m.budgetOf(c.model, req)}
	if req == nil {
		return got
	}
	var tools int
	got.instruction, tools, got.tools = m.fixed(c, req)
	got.fixed = got.instruction.all + tools
	got.config = req.Config
	s.mu.Lock()
	got.pieces = s.piecesOf(req.Contents)
	for _, p := range got.pieces {
		got.contents += int(p.size)
	}
	var likely int
	likely, got.atMost, got.atLeast = s.calibration.expect(c.model, got.estimate())
	s.mu.Unlock()
	_, got.canCompact = req.Tools[compactTool]
	got.Budget = got.sized(likely)
	return got
}

// blocks reports whether a request is too large to be sent as it is.
func (m *Meter) blocks(got measured) bool {
	block := m.cfg.Thresholds.Block
	return block > 0 && float64(got.atMost) > block*float64(got.EffectiveWindow())
}

// sized returns the budget of a request that is expected to have a size. Instruction and tools keep their estimates, so
// that a text which stays the same has the same number, and the conversation takes up the difference. Only a size that
// is less than those estimates leaves them less.
func (got measured) sized(size int) Budget {
	b := got.Budget
	if got.estimate() == 0 {
		return b
	}
	left := size
	for _, part := range []struct {
		of       *int
		estimate int
	}{{&b.SystemPrompt, got.instruction.base}, {&b.SkillPrompts, got.instruction.skills}, {&b.ToolDescriptions, got.fixed - got.instruction.all}} {
		*part.of = max(0, min(part.estimate, left))
		left -= *part.of
	}
	b.Conversation = left
	return b
}

// piecesOf measures contents. Only those that were not in the request before are estimated; the others
// are recognized by their hashes.
func (s *state) piecesOf(contents []*genai.Content) []piece {
	old := s.memo
	same := 0
	var hash uint64
	for ; same < len(contents) && same < len(old); same++ {
		if hash = promptsize.Hash(contents[same]); hash != old[same].hash {
			break
		}
	}
	if same == len(contents) || same == len(old) {
		// The usual case: the request extends the last one, and so does the slice.
		pieces := old[:same:same]
		if same == len(old) {
			pieces = old
		}
		for _, c := range contents[same:] {
			pieces = append(pieces, newPiece(promptsize.Hash(c), c))
		}
		s.memo = pieces
		return pieces
	}
	known := make(map[uint64]piece, len(old)-same)
	for _, p := range old[same:] {
		known[p.hash] = p
	}
	pieces := append(make([]piece, 0, len(contents)), old[:same]...)
	for i, c := range contents[same:] {
		if i > 0 {
			hash = promptsize.Hash(c)
		}
		p, found := known[hash]
		if !found {
			p = newPiece(hash, c)
		}
		pieces = append(pieces, p)
	}
	s.memo = pieces
	return pieces
}

func newPiece(hash uint64, c *genai.Content) piece {
	t, masked := traitsOf(c)
	return piece{hash, int32(min(promptsize.OfContent(c), 1<<30)), masked, t}
}

// instructionOf measures a system instruction, again only if it has changed. It holds no lock while the
// app's Skills runs.
func (m *Meter) instructionOf(s *state, c *genai.Content, sections []string) instruction {
	if c == nil {
		return instruction{}
	}
	hash := promptsize.Hash(c)
	s.mu.Lock()
	known := s.instruction
	s.mu.Unlock()
	if known.hash == hash {
		return known
	}
	all := tokens.OfContent(c)
	skills := m.skills(c, all, sections)
	now := instruction{hash: hash, parts: promptsize.HashParts(c), all: all, skills: skills, base: all - skills}
	s.mu.Lock()
	s.instruction = now
	s.mu.Unlock()
	return now
}

// skillsSection is the name of the section of package prompt that holds skills.
const skillsSection = "skills"

// skills is the size of the skills in an instruction of that size: of the section for them, and of those in other parts.
func (m *Meter) skills(c *genai.Content, all int, sections []string) (size int) {
	defer m.places.Survive("budget: Config.Skills")
	var own []string
	for i, part := range c.Parts {
		if part != nil && i < len(sections) && sections[i] == skillsSection {
			own = append(own, part.Text)
		}
	}
	return ofSkills(textOf(c), func(text string) []string { return slices.Concat(own, m.cfg.Skills(text)) }, all)
}

// lastFixed is the estimate of the fixed part of the last request that was sent.
func (s *state) lastFixed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.fixed
}

// newTokens is the estimate of the contents at the end of a request that the request before did not
// have.
func newTokens(before, now []piece) int {
	known := map[uint64]bool{}
	if len(before) <= len(now) && slices.EqualFunc(before, now[:len(before)], func(a, b piece) bool { return a.hash == b.hash }) {
		now = now[len(before):]
	} else {
		for _, p := range before {
			known[p.hash] = true
		}
	}
	sum := 0
	for i := len(now) - 1; i >= 0 && !known[now[i].hash]; i-- {
		sum += int(now[i].size)
	}
	return sum
}
