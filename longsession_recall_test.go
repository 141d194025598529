package longsession_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/summarizer"
)

// A model recalls in a stack what a summary stands for, and reads it whole, however long it is.
func TestAStackOffersRecallUnlessItIsDisabled(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		stack := newStack(t, longsession.Config{
			Compaction: compaction.Config{Summarizer: summarizer.Extractive{}, ContextWindow: 32_000, MaxLedgerTokens: compaction.Off, MaxSummaryTokens: 40, Synchronous: true},
			Recall:     recall.Config{Disabled: !on, MaxTokens: 4_000},
		})
		if (stack.Recall != nil) != on {
			t.Errorf("on %v: Recall is %v", on, stack.Recall)
		}
		said := ""
		llm := compactiontest.NewModel("m", func(n int, req *model.LLMRequest) *model.LLMResponse {
			last := req.Contents[len(req.Contents)-1].Parts[0]
			if r := last.FunctionResponse; r != nil {
				if said == "" {
					said = fmt.Sprint(r.Response["passages"])
				}
				return compactiontest.Say("Found.")
			}
			summary := false
			for _, content := range req.Contents {
				summary = summary || promptsize.IsSummary(content)
				for _, part := range content.Parts {
					if has := strings.Contains(part.Text, "Earlier messages can be searched with the tool recall."); has && !on {
						t.Error("a summary names a tool that is not there")
					} else if has && n > 20 {
						return compactiontest.CallTool("recall", map[string]any{"query": "cupboard colors"})
					}
				}
			}
			if _, declared := req.Tools["recall"]; declared != (on && summary) {
				t.Errorf("on %v, summary %v: declared %v", on, summary, declared)
			}
			return compactiontest.Say(fmt.Sprintf("Cupboard %d has the color %s. %s", n, []string{"red", "green", "blue"}[n%3], strings.Repeat("It is made of wood. ", 60)))
		})
		for range 24 {
			if err := ask(t, stack, llm); err != nil {
				t.Fatal(err)
			}
		}
		if on && (!strings.HasPrefix(said, "[Earlier messages") || !strings.Contains(said, "Cupboard") || len(said) < 6_000) {
			t.Errorf("the model was given %d bytes: %.300q", len(said), said)
		}
	}
}

// One redaction holds for all that keeps or returns texts.
func TestRecallAndCompactionShareTheirRedaction(t *testing.T) {
	t.Parallel()
	hide := func(text string) string { return strings.ReplaceAll(text, "X4829917", "[gone]") }
	base := compaction.Config{Summarizer: summarizer.Extractive{}, ContextWindow: 32_000}
	_, err := longsession.New(nil, longsession.Config{Compaction: compaction.Config{Summarizer: base.Summarizer, Redact: hide, RecallTool: "find"}, Recall: recall.Config{Redact: hide, Limit: -1}})
	for _, want := range []string{"Recall.Redact is set", `Compaction.RecallTool is "find"`, "Limit is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	for _, inRecall := range []bool{false, true} {
		cfg := longsession.Config{Compaction: base}
		if inRecall {
			cfg.Recall.Redact = hide
		} else {
			cfg.Compaction.Redact = hide
		}
		stack := newStack(t, cfg)
		llm := compactiontest.NewModel("m", func(int, *model.LLMRequest) *model.LLMResponse {
			return compactiontest.Say("Your passport number is X4829917.")
		})
		if err := ask(t, stack, llm); err != nil {
			t.Fatal(err)
		}
		found, err := stack.Recall.Search(t.Context(), desk, recall.Query{Text: "passport number", Shown: true})
		if err != nil || len(found) == 0 {
			t.Fatalf("found %v, %v", found, err)
		}
		if text := fmt.Sprint(found); strings.Contains(text, "X4829917") || !strings.Contains(text, "[gone]") {
			t.Errorf("set in recall %v: found %s", inRecall, text)
		}
	}
}

// Without the tools, exact values are stored all the same, and the function that hides a part of them must be used.
func TestARedactionOfRecallHoldsWithoutItsTools(t *testing.T) {
	t.Parallel()
	hidden := make(chan struct{}, 1000)
	hide := func(text string) string {
		select {
		case hidden <- struct{}{}:
		default:
		}
		return strings.ReplaceAll(text, "X4829917", "[gone]")
	}
	stack := newStack(t, longsession.Config{
		Compaction: compaction.Config{Summarizer: summarizer.Extractive{}, ContextWindow: 32_000}, Recall: recall.Config{Disabled: true, Redact: hide},
	})
	llm := compactiontest.NewModel("m", func(int, *model.LLMRequest) *model.LLMResponse {
		return compactiontest.Say("Your passport number is X4829917, and your order is ORD-1729. " + strings.Repeat("The parcel is on its way to you. ", 40))
	})
	for range 8 {
		if err := ask(t, stack, llm); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := stack.Sessions.Compact(t.Context(), desk, compaction.CompactOptions{KeepRecent: 1}); err != nil || got.Skipped {
		t.Fatalf("%+v, %v", got, err)
	}
	if len(hidden) == 0 {
		t.Error("values were stored without it")
	}
}
