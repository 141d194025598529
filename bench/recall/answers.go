package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/recall"
)

// answers are how many questions of a set can be answered from what a model is shown: those with an accepted answer
// that stands there word for word.
type answers struct {
	questions, histories int
	raw                  int // tokens of all messages
	// newest is the newest messages that take up as many tokens as ledger; guard the prompt of contextguard. adk is
	// bare with one search of ADK's memory, and recall is ledger with one recall.
	newest, guard, bare, adk, ledger, recall tally
	// rich is a prompt with a ledger of richLedger tokens.
	rich tally
}

// tally counts what was shown one way.
type tally struct {
	held   int
	prompt int // tokens of the prompts, one for each history
	read   int // tokens of what was searched, for each question
	// missed are the questions without an answer.
	missed []string
}

func (t *tally) add(q question, shown ...prompt) {
	for _, p := range shown {
		if p.holds(q.accepted) {
			t.held++
			return
		}
	}
	t.missed = append(t.missed, q.name)
}

// share is the share of the questions that were answered, and shareOfRaw that of all tokens, in percent. promptTokens
// and readTokens are means.
func (a answers) share(t tally) float64      { return percent(float64(t.held), a.questions) }
func (a answers) shareOfRaw(t tally) float64 { return percent(float64(t.prompt), a.raw) }
func (a answers) promptTokens(t tally) int   { return t.prompt / max(1, a.histories) }
func (a answers) readTokens(t tally) int     { return t.read / max(1, a.questions) }

// tokens of all messages.
func (h *history) tokens() int { return newest(h, math.MaxInt).tokens }

// answer asks the questions of a set that have a literal answer.
func answer(ctx context.Context, s set) (answers, error) {
	a := answers{histories: len(s.histories)}
	for _, h := range s.histories {
		if err := a.history(ctx, h); err != nil {
			return answers{}, fmt.Errorf("%s: %w", h.name, err)
		}
	}
	return a, nil
}

func (a *answers) history(ctx context.Context, h *history) error {
	bare, err := open(ctx, h, withLedger(config(), compaction.Off))
	if err != nil {
		return err
	}
	ours, err := open(ctx, h, config())
	if err != nil {
		return err
	}
	rich, err := open(ctx, h, withLedger(config(), richLedger))
	if err != nil {
		return err
	}
	guard, err := guardPrompt(ctx, h)
	if err != nil {
		return err
	}
	adk, err := newADKMemory(ctx, h)
	if err != nil {
		return err
	}
	last := newest(h, ours.prompt.tokens)
	a.raw += h.tokens()
	for t, p := range map[*tally]prompt{&a.newest: last, &a.guard: guard, &a.bare: bare.prompt, &a.adk: bare.prompt, &a.ledger: ours.prompt, &a.recall: ours.prompt, &a.rich: rich.prompt} {
		t.prompt += p.tokens
	}
	for _, q := range h.questions {
		if len(q.accepted) == 0 {
			continue
		}
		a.questions++
		_, found, err := adk.search(ctx, q.text)
		if err != nil {
			return err
		}
		recalled, err := ours.recall(ctx, q.text)
		if err != nil {
			return fmt.Errorf("question %s: %w", q.name, err)
		}
		a.newest.add(q, last)
		a.guard.add(q, guard)
		a.bare.add(q, bare.prompt)
		a.adk.add(q, bare.prompt, found)
		a.ledger.add(q, ours.prompt)
		a.rich.add(q, rich.prompt)
		a.recall.add(q, ours.prompt, recalled)
		a.adk.read += found.tokens
		a.recall.read += recalled.tokens
	}
	return nil
}

// opened is a session that was played, with the prompt at its end.
type opened struct {
	ref    compaction.SessionRef
	prompt prompt
	search *recall.Recaller
}

// open plays a history over ADK's in-memory service.
func open(ctx context.Context, h *history, cfg compaction.Config) (*opened, error) {
	svc, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
	if err != nil {
		return nil, err
	}
	if err := h.store(ctx, svc, h.name); err != nil {
		return nil, err
	}
	got, err := svc.Get(ctx, requestOf(h.name))
	if err != nil {
		return nil, err
	}
	search, err := recall.New(svc, recall.Config{})
	return &opened{ref: refOf(h.name), prompt: promptOf(got.Session), search: search}, err
}

// recall returns what a model reads of one call of the tool recall, without the sentences around it. It leaves out what
// the prompt shows.
func (o *opened) recall(ctx context.Context, query string) (prompt, error) {
	passages, err := o.search.Search(ctx, o.ref, recall.Query{Text: query})
	var text strings.Builder
	for _, p := range passages {
		for _, line := range p.Lines {
			text.WriteString(line.String() + "\n")
		}
	}
	var read prompt
	if text.Len() > 0 {
		read.add(genai.NewContentFromText(text.String(), genai.RoleUser))
	}
	return read, err
}
