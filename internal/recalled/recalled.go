// Package recalled knows the tools by which a model searches earlier messages. What they are asked and what they
// answer repeats what the session has already: an index, a summary and a list of exact values that took it in
// would have the same words twice, and would find the question in place of its source.
package recalled

import (
	"math"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// Names of the tools.
const (
	Search = "recall"
	Turn   = "recall_turn"
)

// IsTool reports whether a tool of that name repeats what the session has.
func IsTool(name string) bool { return name == Search || name == Turn }

// Part reports whether a part is a call of such a tool, or its response.
func Part(p *genai.Part) bool {
	return p != nil && (p.FunctionCall != nil && IsTool(p.FunctionCall.Name) || p.FunctionResponse != nil && IsTool(p.FunctionResponse.Name))
}

// Without returns the parts of an event that are not such calls and responses. It returns the event's own slice if
// all are left, and nil if the event has no content.
func Without(ev *session.Event) []*genai.Part {
	if ev == nil || ev.Content == nil {
		return nil
	}
	for i, p := range ev.Content.Parts {
		if !Part(p) {
			continue
		}
		kept := append([]*genai.Part(nil), ev.Content.Parts[:i]...)
		for _, p := range ev.Content.Parts[i+1:] {
			if !Part(p) {
				kept = append(kept, p)
			}
		}
		return kept
	}
	return ev.Content.Parts
}

// Keys of an answer that has found something.
const (
	PassagesKey = "passages" // the quoted passages, one text
	TurnsKey    = "turns"    // the turns that they are from, in their order
)

// maxTurns is how many turns a line names. An answer of the tools has far fewer.
const maxTurns = 32

// Line returns what a summarizer is shown in place of an answer, "recalled: turns 41, 77". The passages repeat
// events that are summarized already or still to come. ok is false for any other answer, such as an error, and for
// those of a tool of the app's that has the same name.
func Line(r *genai.FunctionResponse) (line string, ok bool) {
	if r == nil || !IsTool(r.Name) {
		return "", false
	}
	if _, quoted := r.Response[PassagesKey].(string); !quoted {
		return "", false
	}
	turns, ok := numbers(r.Response[TurnsKey])
	if !ok {
		return "", false
	}
	switch len(turns) {
	case 0:
		return "recalled: earlier messages", true
	case 1:
		return "recalled: turn " + turns[0], true
	}
	return "recalled: turns " + strings.Join(turns, ", "), true
}

// numbers reads a list of whole numbers, as a tool returns it or as a backend returns it.
func numbers(list any) ([]string, bool) {
	switch list := list.(type) {
	case []int:
		out := make([]string, 0, len(list))
		for _, n := range list[:min(len(list), maxTurns)] {
			out = append(out, strconv.Itoa(n))
		}
		return out, true
	case []any:
		out := make([]string, 0, len(list))
		for _, n := range list[:min(len(list), maxTurns)] {
			switch n := n.(type) {
			case int:
				out = append(out, strconv.Itoa(n))
			case float64:
				if n != math.Trunc(n) || math.Abs(n) > 1<<53 {
					return nil, false
				}
				out = append(out, strconv.FormatFloat(n, 'f', -1, 64))
			default:
				return nil, false
			}
		}
		return out, true
	}
	return nil, false
}
