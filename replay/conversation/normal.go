package conversation

import (
	"strings"

	"google.golang.org/genai"
)

// Texts of messages that a recording does not have.
const (
	startText = "(start)"
	emptyText = "(empty)"
)

// builder arranges messages into turns and steps.
type builder struct {
	rec *recording
	c   *Conversation
	// waiting are user messages without an answer so far.
	waiting []*genai.Content
	// between is true if a result or a summary came after the last answer.
	between bool
	// ends has one entry for each step so far.
	ends []stepEnd
	pairing
}

// stepEnd is the position of a step in the conversation, and the index of its last message in the
// recording.
type stepEnd struct{ turn, step, index int }

// conversation normalizes a recording. Errors are of type *Error, without a file.
func (rec *recording) conversation() (*Conversation, error) {
	b := &builder{rec: rec, c: &Conversation{ID: rec.id, Model: rec.model, Questions: rec.questions}}
	for _, m := range rec.messages {
		if err := b.add(m); err != nil {
			return nil, inMessage(err, m.place)
		}
	}
	b.unanswered()
	if len(b.c.Turns) == 0 {
		return nil, errorAt(0, "no message of a user or an agent; expected at least one")
	}
	b.finishCalls()
	b.placeCompactions()
	b.c.Instruction = strings.Join(rec.instruction, "\n\n")
	b.c.Tools = rec.tools
	b.c.Notes = rec.notes.lines()
	return b.c, nil
}

func (b *builder) add(m message) error {
	for _, r := range m.results {
		b.between = true
		if err := b.answer(r, &b.rec.notes); err != nil {
			return err
		}
	}
	switch {
	case m.summary:
		b.between = true
	case m.from == system:
		b.system(m)
	case m.from == agent:
		b.agent(m)
	case m.from == tool:
		if len(m.parts) > 0 {
			return errorAt(0, "a tool's message has more than results; expected the rest in a message of the user or the model")
		}
	case len(m.parts) > 0 || len(m.results) == 0:
		return b.user(m)
	}
	return nil
}

func (b *builder) system(m message) {
	if text := joined(m.parts); text != "" {
		b.rec.instruction = append(b.rec.instruction, text)
	}
	if len(b.c.Turns)+len(b.waiting) > 0 {
		b.rec.notes.add("system messages after the beginning, added to the instruction", 1)
	}
}

func (b *builder) user(m message) error {
	for _, p := range m.parts {
		if p.FunctionCall != nil {
			return errorAt(0, "the user calls the function %q; expected calls in the model's messages", p.FunctionCall.Name)
		}
	}
	if len(m.parts) == 0 {
		m.parts = []*genai.Part{{Text: emptyText}}
		b.rec.notes.add("empty user messages, given the text "+emptyText, 1)
	}
	b.waiting = append(b.waiting, &genai.Content{Role: genai.RoleUser, Parts: m.parts})
	return nil
}

// agent adds an answer. It begins a new step if it opens a turn, or if a result came since an
// answer with calls. Otherwise it joins the last step. For example, "Let me look.", a call, its
// result and "Sunny." are two steps: the text with the call, and "Sunny.".
func (b *builder) agent(m message) {
	if len(m.parts) == 0 {
		b.rec.notes.add("empty answers, left out", 1)
		return
	}
	b.turn()
	t := &b.c.Turns[len(b.c.Turns)-1]
	// Only an answer with calls can be followed by another step of the same turn.
	if n := len(t.Steps); n == 0 || b.between && b.callsIn(len(b.ends)-1) {
		t.Steps = append(t.Steps, Step{Message: m.index, Answer: &genai.Content{Role: genai.RoleModel}})
		b.ends = append(b.ends, stepEnd{turn: len(b.c.Turns) - 1, step: n})
	} else {
		b.rec.notes.add("answers directly after another one, joined with it", 1)
	}
	b.between = false
	b.ends[len(b.ends)-1].index = m.index
	s := &t.Steps[len(t.Steps)-1]
	s.Answer.Parts = append(s.Answer.Parts, m.parts...)
	if s.PromptTokens == 0 {
		s.PromptTokens = m.prompt
	}
	s.OutputTokens += m.output
	if s.Time.IsZero() {
		s.Time = m.time
	}
	for _, p := range m.parts {
		if p.FunctionCall != nil {
			b.call(p.FunctionCall, len(b.ends)-1)
		}
	}
}

// turn begins a turn if user messages wait for an answer, or if the recording begins with an
// answer.
func (b *builder) turn() {
	switch {
	case len(b.waiting) > 0:
		opening := &genai.Content{Role: genai.RoleUser}
		for _, w := range b.waiting {
			opening.Parts = append(opening.Parts, w.Parts...)
		}
		b.rec.notes.add("user messages directly after another one, joined with it", len(b.waiting)-1)
		b.c.Turns = append(b.c.Turns, Turn{User: opening})
		b.waiting = nil
	case len(b.c.Turns) == 0:
		b.rec.notes.add("user messages "+startText+", made up before a first answer", 1)
		b.c.Turns = append(b.c.Turns, Turn{User: genai.NewContentFromText(startText, genai.RoleUser)})
	}
}

// unanswered adds the user messages without an answer: as one last turn or, if the recording has no
// answer at all, as one turn each.
func (b *builder) unanswered() {
	if len(b.c.Turns) > 0 {
		b.turn()
		return
	}
	for _, w := range b.waiting {
		b.c.Turns = append(b.c.Turns, Turn{User: w})
	}
}

// placeCompactions finds the first answer after each compaction: the first that ends at its index
// or later.
func (b *builder) placeCompactions() {
	b.rec.addSummaries()
	i := 0
	for n, c := range b.rec.compactions {
		for i < len(b.ends) && b.ends[i].index < c.index {
			i++
		}
		if i == len(b.ends) {
			b.rec.notes.add("recorded compactions after the last answer, left out", len(b.rec.compactions)-n)
			return
		}
		c.Turn, c.Step = b.ends[i].turn, b.ends[i].step
		b.c.Compactions = append(b.c.Compactions, c.Compaction)
	}
}
