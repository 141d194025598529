package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// wishes are what the user says in the first turns of a second chat, and expects to hold until its end.
var wishes = []string{
	"Please write every letter in Norwegian, never in English.",
	"Don't call Torvald before six in the evening.",
	"The piano goes with the second van instead, not with the first.",
	"Always ask me before you accept a quote.",
}

const wishTurns = 30

// paraphrase stands for a model that writes summaries. It is the worst case: no wish is in what it writes.
type paraphrase struct{}

func (paraphrase) Summarize(context.Context, summarizer.Request) (summarizer.Result, error) {
	text := "They went on with preparing the move: boxes, contracts and errands were gone through. The user mentioned a few preferences, and the helper agreed."
	return summarizer.Result{Content: genai.NewContentFromText(text, genai.RoleModel), Model: "scripted model"}, nil
}

// playWishes plays the second chat without and with the user's words, and prints what is left of the wishes at its end.
func playWishes(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "\nA second chat of %d turns: %d wishes are said at the beginning, and a model writes the summaries in words of its own.\n\n", wishTurns, len(wishes))
	var last string
	for _, w := range []struct {
		name string
		most int
	}{{"summaries", compaction.Off}, {"and the user's words", 0}} {
		prompt, err := lastPrompt(ctx, w.most)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		last = prompt
		fmt.Fprintf(out, " %-22s | %d of %d wishes are in the last prompt, which has %d tokens\n", w.name, wishesIn(prompt), len(wishes), tokens.Estimate(prompt))
	}
	if n := wishesIn(last); n < len(wishes) {
		return fmt.Errorf("with the user's words, the last prompt has %d of %d wishes", n, len(wishes))
	}
	fmt.Fprint(out, "\nThe model reads them like this:\n\n")
	_, block, _ := strings.Cut(last, "\nWhat the user said")
	block, _, _ = strings.Cut("What the user said"+block, "\n\n")
	for line := range strings.Lines(block) {
		fmt.Fprint(out, "  "+line)
	}
	fmt.Fprintln(out)
	return nil
}

func wishesIn(prompt string) int {
	n := 0
	for _, wish := range wishes {
		if strings.Contains(prompt, wish) {
			n++
		}
	}
	return n
}

// lastPrompt plays the second chat, with so many tokens of the user's words, and returns what the model reads in the end.
func lastPrompt(ctx context.Context, most int) (prompt string, err error) {
	cfg := standard()
	cfg.Compaction.Summarizer, cfg.Compaction.MaxUserTokens = paraphrase{}, most
	stack, err := longsession.New(session.InMemoryService(), cfg)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, stack.Close(ctx)) }()
	llm := compactiontest.NewModel("scripted model", func(n int, req *model.LLMRequest) *model.LLMResponse {
		var all []string
		for _, content := range req.Contents {
			all = append(all, text(content))
		}
		prompt = strings.Join(all, "\n")
		return compactiontest.Say(atLength(n))
	})
	r, err := newRunner(stack.Model(llm), stack.Sessions, stack.PluginConfig())
	if err != nil {
		return "", err
	}
	for n := range wishTurns {
		message := "What comes next on the list?"
		if n < len(wishes) {
			message = wishes[n]
		}
		for _, err := range r.Run(ctx, ref.UserID, ref.SessionID, genai.NewContentFromText(message, genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				return "", fmt.Errorf("turn %d: %w", n+1, err)
			}
		}
	}
	return prompt, nil
}

// atLength is an answer as helpers write it: far longer than what the user says.
func atLength(n int) string {
	e := talk(n)
	return fmt.Sprintf("Understood. Let us look at where we are with the move. %s Take one thing after the other: first the papers, then what must be "+
		"packed last, because it is needed until the day itself, and in the end what can be given away. Keep a list at the door, and cross out what is done.", e.model)
}
