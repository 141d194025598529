package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// window is the context window of the scripted model, in tokens.
const window = 128_000

var ref = compaction.SessionRef{AppName: "moving", UserID: "ines", SessionID: "chat"}

// how the model got at an answer.
type how string

const (
	fromPrompt how = "prompt"
	byRecall   how = "recall"
	notAtAll   how = "-"
)

// play is one play of the chat, and what was seen of it.
type play struct {
	name string
	// sent, last and largest are tokens of all prompts, of the last one and of the largest one.
	sent, last, largest int
	// answers has how each question was answered, and recalled what recall returned for them, in tokens.
	answers  []how
	recalled int
}

// answered counts the questions with an answer.
func (p *play) answered() int {
	n := 0
	for _, h := range p.answers {
		if h != notAtAll {
			n++
		}
	}
	return n
}

// way is how a chat is kept short.
type way struct {
	name string
	// config is nil for ADK alone.
	config func() longsession.Config
}

func ways() []way {
	return []way{
		{"ADK alone", nil},
		{"summaries", func() longsession.Config {
			cfg := standard()
			cfg.Compaction.MaxLedgerTokens, cfg.Recall.Disabled = compaction.Off, true
			return cfg
		}},
		{"and ledger", func() longsession.Config {
			cfg := standard()
			cfg.Recall.Disabled = true
			return cfg
		}},
		{"and recall", standard},
	}
}

// standard is the default of every layer, but for the summaries: they are written without a model, and at once, so that
// every run prints the same.
func standard() longsession.Config {
	cfg := longsession.Config{}
	cfg.Compaction.Summarizer = summarizer.Extractive{}
	cfg.Compaction.InvocationThreshold = 5 // by price, most of these short turns would still stay raw
	cfg.Compaction.ContextWindow = window
	cfg.Compaction.Synchronous = true
	return cfg
}

// playAll plays the chat in every way, prints the tables, and checks the last play.
func playAll(ctx context.Context, turns int, out io.Writer) error {
	fmt.Fprintf(out, "A chat of %d turns: %d things are said at the beginning, and asked for at the end.\n\n", turns, len(facts))
	var plays []*play
	for _, w := range ways() {
		p, err := w.play(ctx, chat(turns))
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		plays = append(plays, p)
	}
	table(out, plays)
	last := plays[len(plays)-1]
	if err := last.check(); err != nil {
		return err
	}
	if err := playWishes(ctx, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nrecall ok: %d turns, %d of %d questions answered, last prompt %d tokens (with ADK alone %d)\n",
		turns, last.answered(), len(facts), last.last, plays[0].last)
	return nil
}

// check is what must hold with recall.
func (p *play) check() error {
	var missing []string
	for i, h := range p.answers {
		if h == notAtAll {
			missing = append(missing, facts[i].asked)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("with recall, %d questions have no answer: %s", len(missing), strings.Join(missing, "; "))
	}
	return nil
}

// play plays a chat over ADK's in-memory service.
func (w way) play(ctx context.Context, script []exchange) (p *play, err error) {
	p = &play{name: w.name}
	var service session.Service = session.InMemoryService()
	llm, plugins := p.answering(script), runner.PluginConfig{}
	if w.config != nil {
		stack, err := longsession.New(service, w.config())
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stack.Close(ctx)) }()
		service, plugins, llm = stack.Sessions, stack.PluginConfig(), stack.Model(llm)
	}
	r, err := newRunner(llm, service, plugins)
	if err != nil {
		return nil, err
	}
	for n, e := range script {
		if err := p.turn(ctx, r, e); err != nil {
			return nil, fmt.Errorf("turn %d: %w", n+1, err)
		}
	}
	return p, nil
}

func newRunner(llm model.LLM, service session.Service, plugins runner.PluginConfig) (*runner.Runner, error) {
	helper, err := llmagent.New(llmagent.Config{
		Name:        "helper",
		Description: "helps with a move",
		Instruction: "You help the user to move to another town. Answer from the conversation; never guess.",
		Model:       llm,
	})
	if err != nil {
		return nil, err
	}
	return runner.New(runner.Config{AppName: ref.AppName, Agent: helper, SessionService: service, PluginConfig: plugins, AutoCreateSession: true})
}

// turn runs one turn. Where it is a question, it notes how the answer was found.
func (p *play) turn(ctx context.Context, r *runner.Runner, e exchange) error {
	answer, recalled := "", 0
	for ev, err := range r.Run(ctx, ref.UserID, ref.SessionID, genai.NewContentFromText(e.user, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err
		}
		if ev.Content == nil {
			continue
		}
		for _, part := range ev.Content.Parts {
			answer += part.Text
			if part.FunctionResponse != nil && part.FunctionResponse.Name == recallTool {
				recalled += tokens.OfPart(part)
			}
		}
	}
	switch {
	case e.model != "" && answer != e.model:
		return fmt.Errorf("the model wrote %q, and the script has %q", answer, e.model)
	case e.model != "":
		return nil
	case answer == unknown:
		p.answers = append(p.answers, notAtAll)
	case recalled > 0:
		p.answers = append(p.answers, byRecall)
	default:
		p.answers = append(p.answers, fromPrompt)
	}
	p.recalled += recalled
	return nil
}
