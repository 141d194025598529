package subtask

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/tokens"
)

// reply collects what a subtask says. Its run may be given up while a tool still hangs, so it locks itself.
type reply struct {
	mu        sync.Mutex
	streaming bool
	answer    string          // of the newest complete reply without calls
	remarks   []string        // texts next to calls
	partial   strings.Builder // of the reply that is arriving
	called    map[string]int  // by tool
	questions []question      // that the newest event asks
	cut       string          // why the newest reply is not complete, "" if it is
	code      string          // the error code of the newest reply
}

// note takes in an event of the subtask.
func (p *reply) note(ev *session.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ev == nil || ev.Author == "user" {
		return
	}
	text := textOf(ev.Content)
	if ev.Partial {
		p.partial.WriteString(text)
		return
	}
	if len(adk.FunctionResponses(ev)) > 0 {
		return
	}
	p.partial.Reset()
	if p.questions = questionsIn(ev); len(p.questions) > 0 {
		return
	}
	calls := adk.FunctionCalls(ev)
	for _, call := range calls {
		if p.called == nil {
			p.called = map[string]int{}
		}
		p.called[call.Name]++
	}
	p.cut, p.code = p.whyCut(ev), ev.ErrorCode
	switch {
	case len(calls) == 0 && text != "":
		p.answer = text
	case text != "":
		p.remarks = append(p.remarks, text)
	}
}

// whyCut says why a reply is not complete.
func (p *reply) whyCut(ev *session.Event) string {
	switch {
	case ev.ErrorCode != "" || ev.ErrorMessage != "":
		return fmt.Sprintf("the model failed with %s", shorten(strings.TrimSpace(ev.ErrorCode+" "+ev.ErrorMessage), maxShownArgs))
	case ev.Interrupted:
		return "the reply was interrupted"
	case ev.FinishReason == genai.FinishReasonMaxTokens:
		return "the reply was cut at the model's output limit"
	case ev.FinishReason == "" && p.streaming:
		return "the stream of the reply ended early"
	case ev.FinishReason == "" || ev.FinishReason == genai.FinishReasonStop || ev.FinishReason == genai.FinishReasonUnspecified:
		return ""
	}
	return fmt.Sprintf("the reply ended with %s", ev.FinishReason)
}

// failedWith reports whether the newest reply has this error code.
func (p *reply) failedWith(code string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.code == code
}

// asks returns the questions that the subtask waits for.
func (p *reply) asks() []question {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.questions)
}

// text returns the answer or, if there is none, what was found so far. Complete reports that it is the answer,
// as the model meant it.
func (p *reply) text() (text, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.partial.Len() > 0:
		return p.partial.String(), "the reply did not arrive in full"
	case p.answer != "":
		return p.answer, p.cut
	}
	found := strings.Join(p.remarks, "\n")
	if len(p.called) > 0 {
		var calls []string
		for name, n := range p.called {
			calls = append(calls, fmt.Sprintf("%s x%d", name, n))
		}
		slices.Sort(calls)
		found = strings.TrimSpace(found + "\nTools called so far: " + strings.Join(calls, ", ") + ".")
	}
	return found, cmp.Or(p.cut, "there is no answer")
}

// textOf returns the text of a content without its thoughts.
func textOf(c *genai.Content) string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range c.Parts {
		if part != nil && !part.Thought {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// errNoEnd is the error of a run whose tools or model did not return when its time was over.
var errNoEnd = errors.New("it did not end in time")

// bounded returns the text of a result: the reason first, if there is one, then as much of the text as fits.
func bounded(text, reason, sessionID string, most int) (bounded, why string) {
	text = strings.TrimSpace(text)
	whole := func(reason string) string {
		if reason == "" {
			return text
		}
		return strings.TrimSpace(fmt.Sprintf("[Truncated: %s.]\n%s", reason, text))
	}
	if out := whole(reason); tokens.Estimate(out) <= most {
		return out, reason
	}
	size := amount(tokens.Estimate(text), "token")
	tooLong := fmt.Sprintf("the answer has %s and is cut; all of it is in session %s", size, sessionID)
	if reason != "" {
		tooLong = shorten(reason, 4*most/5) + "; " + tooLong
	}
	runes := []rune(text)
	lo, hi := 0, len(runes) // the longest beginning that fits
	for lo < hi {
		mid := (lo + hi + 1) / 2
		text = string(runes[:mid])
		if tokens.Estimate(whole(tooLong)) <= most {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	text = string(runes[:lo])
	return whole(tooLong), tooLong
}

// amount is a number with its unit, as in "1 token" and "1,000 tokens".
func amount(n int, unit string) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n != 1 {
		unit += "s"
	}
	return digits + " " + unit
}
