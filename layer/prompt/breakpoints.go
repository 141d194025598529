package prompt

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/wrapper"
)

// layout is where the sections of an instruction are.
type layout struct {
	names  []string
	breaks []int
}

type layoutKey struct{}

// Breakpoints returns where a provider should cut the system instruction for its cache: offsets in bytes in
// the text that [Joined] returns, ascending, each at the end of a section. The sections are the base, Project,
// Memories, and Skills with [Config.CacheableSkills]; one without a text has no break point. There are at most
// four.
//
// The context must be that of a model call below [Builder.Model], as an adapter of a provider has it. For any
// other, and if the builder has no sections, the result is nil. It must not be changed.
func Breakpoints(ctx context.Context) []int {
	if l := layoutIn(ctx); l != nil {
		return l.breaks
	}
	return nil
}

// SectionNames returns the name of the section to which each part of the system instruction belongs, in
// order. Parts of the base come first; a part that a callback of the app has added behind the sections is
// "other". The context is that of [Breakpoints]. The result must not be changed.
func SectionNames(ctx context.Context) []string {
	if l := layoutIn(ctx); l != nil {
		return l.names
	}
	return nil
}

func layoutIn(ctx context.Context) *layout {
	if ctx == nil {
		return nil
	}
	l, _ := ctx.Value(layoutKey{}).(*layout)
	return l
}

// Joined returns the texts of the parts of a system instruction as one text, with an empty line between two.
// Parts without a text are left out. It returns "" for nil.
func Joined(instruction *genai.Content) string {
	if instruction == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range instruction.Parts {
		if p == nil || p.Text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(separator)
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// layoutOf finds the sections in the parts of an instruction.
func (b *Builder) layoutOf(parts []*genai.Part, t *texts) *layout {
	l := &layout{names: make([]string, len(parts))}
	first := len(parts) // part that is a section of a source
	for i, p := range parts {
		if t.sectionOf(p) >= 0 {
			first = i
			break
		}
	}
	end, base := 0, 0 // of the joined text so far
	for i, p := range parts {
		start := end
		if p != nil && p.Text != "" {
			if end > 0 {
				start += len(separator)
			}
			end = start + len(p.Text)
		}
		section := t.sectionOf(p)
		switch {
		case i < first:
			l.names[i], base = sectionBase, end
		case section < 0:
			l.names[i] = sectionOther
		default:
			l.names[i] = sectionNames[section]
		}
		if i == first && base > 0 {
			l.breaks = append(l.breaks, base)
		}
		if section >= 0 && b.cacheable(section) {
			l.breaks = append(l.breaks, start+len(t[section]))
		}
	}
	if first == len(parts) && base > 0 {
		l.breaks = append(l.breaks, base)
	}
	return l
}

// seen is the last instruction of an agent in a branch of a session.
type seen struct {
	mu sync.Mutex
	// by is what the plugin and the wrapper have seen. They differ if callbacks of the app change the
	// instruction in between.
	by      [2]instruction
	wrapped bool // the wrapper reports, so the plugin need not
}

// instruction is what is compared of two instructions.
type instruction struct {
	known  bool
	parts  []string
	layout *layout
}

// Who looks at an instruction.
const (
	byPlugin = iota
	byWrapper
)

// look compares the instruction of a request with that of the agent's last one, reports a change, and returns
// where the sections are.
func (b *Builder) look(ctx context.Context, who caller, req *model.LLMRequest, t *texts, by int) *layout {
	var parts []*genai.Part
	if req.Config != nil && req.Config.SystemInstruction != nil {
		parts = req.Config.SystemInstruction.Parts
	}
	s, known := b.callers.Get(who.key())
	if !known {
		s = &seen{}
		if other, known, _ := b.callers.PeekOrAdd(who.key(), s); known {
			s = other
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrapped = s.wrapped || by == byWrapper
	before := s.by[by]
	if before.known && slices.EqualFunc(parts, before.parts, func(p *genai.Part, text string) bool { return textOf(p) == text }) {
		return before.layout
	}
	now := instruction{known: true, parts: make([]string, len(parts)), layout: b.layoutOf(parts, t)}
	for i, p := range parts {
		now.parts[i] = textOf(p)
	}
	s.by[by] = now
	if before.known && (by == byWrapper || !s.wrapped) {
		o := who.observation(Changed)
		o.Section, o.At = difference(before, now)
		b.observe(ctx, o)
	}
	return now.layout
}

// textOf returns the text of a part or, for a part without one, what stands for it in comparisons.
func textOf(p *genai.Part) string {
	if p == nil || p.Text != "" {
		if p == nil {
			return ""
		}
		return p.Text
	}
	data, _ := json.Marshal(p)
	return string(data)
}

// difference returns the first section in which two instructions differ, and the offset of the first byte.
func difference(before, now instruction) (section string, at int) {
	i := 0
	for i < len(before.parts) && i < len(now.parts) && before.parts[i] == now.parts[i] {
		at += len(now.parts[i]) + len(separator)
		i++
	}
	switch {
	case i == len(before.parts) || i == len(now.parts):
		at = max(0, at-len(separator))
	default:
		a, b := before.parts[i], now.parts[i]
		n := 0
		for n < len(a) && n < len(b) && a[n] == b[n] {
			n++
		}
		at += n
	}
	return cmp.Or(promptsize.FirstChanged(before.layout.names, now.layout.names, i), sectionBase), at
}

// withLayout puts a layout into the context of a model call.
func withLayout(ctx context.Context, l *layout) context.Context {
	return wrapper.WithValue(ctx, layoutKey{}, l)
}
