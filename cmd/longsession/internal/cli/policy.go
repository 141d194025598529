package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/summarizer"
)

// Values of --summarizer.
const (
	extractive = "extractive"
	recorded   = "recorded"
	geminis    = "gemini"
	off        = "off"
)

var summarizers = []string{extractive, recorded, geminis, off}

// policyFlags are the flags that make a policy. A grid varies them.
type policyFlags struct {
	summarizer                                                           string
	threshold, overlap, window, tokens, retain, summaries, summaryTokens int
	ratio                                                                float64
}

// check refuses what the library would take for "use the default" or never sees.
func (p policyFlags) check() error {
	if !slices.Contains(summarizers, p.summarizer) {
		return badInput("--summarizer %q is none that there is: use %s", p.summarizer, strings.Join(summarizers, ", "))
	}
	if p.overlap == 0 && p.threshold > 0 {
		return badInput("--overlap is 0 with --threshold %d: the turn just answered would be summarized; use at least 1", p.threshold)
	}
	for _, flag := range []struct {
		name  string
		value float64
	}{
		{"threshold", float64(p.threshold)},
		{"token-threshold", float64(p.tokens)},
		{"safety-ratio", p.ratio},
	} {
		if flag.value < 0 {
			return badInput("--%s is %v: it must not be negative; 0 turns it off", flag.name, flag.value)
		}
	}
	for _, flag := range []struct {
		name  string
		value int
	}{
		{"context-window", p.window},
		{"retain", p.retain},
		{"max-summaries", p.summaries},
		{"max-summary-tokens", p.summaryTokens},
	} {
		if flag.value < 1 {
			return badInput("--%s is %d: it must be at least 1", flag.name, flag.value)
		}
	}
	return nil
}

// build returns the policy. llm writes the summaries of geminis. An error says which flags contradict
// each other.
func (p policyFlags) build(name string, llm model.LLM, mirror bool) (replay.Policy, error) {
	policy := replay.Policy{Name: name}
	switch {
	case p.summarizer == off:
		policy.When = replay.Never
	case p.summarizer == recorded:
		policy.When = replay.AsRecorded
	case mirror:
		policy.When = replay.AlsoWhereRecorded
	}
	cfg := compaction.DefaultConfig()
	cfg.InvocationThreshold = cmp.Or(p.threshold, compaction.Off)
	cfg.OverlapSize = p.overlap
	cfg.ContextWindow = p.window
	cfg.TokenThreshold = p.tokens
	cfg.SafetyRatio = cmp.Or(p.ratio, compaction.Off)
	cfg.RetainEvents = p.retain
	cfg.MaxSummaries = p.summaries
	cfg.MaxSummaryTokens = p.summaryTokens
	cfg.Synchronous = true // a report must not depend on when a job got its turn
	if p.summarizer == geminis {
		cfg.Model = llm
	} else {
		cfg.Summarizer = summarizer.Extractive{}
	}
	policy.Config = cfg
	service, err := compaction.NewCompactionService(session.InMemoryService(), cfg)
	if err != nil {
		return policy, inFlags(err)
	}
	return policy, service.Close(context.Background())
}

// fieldFlags are the fields of [compaction.Config] and the flags that set them.
var fieldFlags = strings.NewReplacer(
	"compaction config: ", "",
	"InvocationThreshold", "--threshold",
	"OverlapSize", "--overlap",
	"ContextWindow", "--context-window",
	"TokenThreshold", "--token-threshold",
	"set SafetyRatio to Off", "set --safety-ratio 0",
	"SafetyRatio", "--safety-ratio",
	"RetainEvents", "--retain",
	"MaxSummaryTokens", "--max-summary-tokens",
	"MaxSummaries", "--max-summaries",
	" or lower MaxOutputTokens", "",
	" less MaxOutputTokens", ", less a reply of",
	"with MaxOutputTokens", "with a reply of",
	"; Off (-1) turns it off", "",
	"\n", "; ",
)

// inFlags says what the library found wrong in the words of the one who called the command.
func inFlags(err error) error {
	return &exitError{exitUsage, errors.New(fieldFlags.Replace(err.Error()))}
}

// describe says in a line what the policy does.
func (p policyFlags) describe(mirror bool) string {
	switch p.summarizer {
	case off:
		return "no compaction"
	case recorded:
		return "compacts where the recording was compacted, with the recorded summary"
	}
	var when []string
	if p.threshold > 0 {
		when = append(when, fmt.Sprintf("every %d turns (%d stay raw)", p.threshold, p.overlap))
	}
	switch {
	case p.tokens > 0:
		when = append(when, fmt.Sprintf("at %s prompt tokens (%d events stay raw)", commas(p.tokens), p.retain))
	case p.ratio > 0:
		when = append(when, fmt.Sprintf("at %s of the window (%d events stay raw)", percent(p.ratio), p.retain))
	}
	if mirror {
		when = append(when, "where the recording was compacted")
	}
	if len(when) == 0 {
		return "no compaction: --threshold and --safety-ratio are 0"
	}
	summaries := "one summary"
	if p.summaries > 1 {
		summaries = fmt.Sprintf("up to %s summaries", commas(p.summaries))
	}
	// In a small window the library asks for less.
	return fmt.Sprintf("%s; %s of up to %s tokens, %s", strings.Join(when, ", "), summaries, commas(p.summaryTokens), p.summarizer)
}

// automatic reports whether the policy compacts by itself. One that does not leaves prompts alone also at
// the end of the window.
func (p policyFlags) automatic() bool { return p.threshold > 0 || p.tokens > 0 || p.ratio > 0 }

// name tells a policy from others by what differs from the defaults.
func (p policyFlags) name(changed func(flag string) bool) string {
	words := []string{p.summarizer}
	for _, key := range gridKeys {
		if key != "summarizer" && changed(key) {
			words = append(words, key+"="+p.get(key))
		}
	}
	return strings.Join(words, " ")
}

// geminiModel returns the model that writes summaries. Without a key it fails before any work.
func geminiModel(ctx context.Context, name string) (model.LLM, error) {
	key := os.Getenv("GOOGLE_API_KEY")
	if key == "" {
		key = os.Getenv("GEMINI_API_KEY")
	}
	if key == "" {
		return nil, badInput("--summarizer gemini needs a key: set GEMINI_API_KEY or GOOGLE_API_KEY, or use --summarizer extractive, which needs none")
	}
	llm, err := gemini.NewModel(ctx, name, &genai.ClientConfig{APIKey: key, Backend: genai.BackendGeminiAPI})
	if err != nil {
		return nil, badInput("--summary-model %s: %v", name, err)
	}
	return llm, nil
}
