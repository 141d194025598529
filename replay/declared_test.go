package replay_test

import (
	"fmt"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/catalog"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
)

// withTools is a conversation with the tools of the catalog under names that begin with a prefix. Each turn
// calls the tool of that number.
func withTools(prefix string, calls ...int) *conversation.Conversation {
	c := &conversation.Conversation{ID: "tools"}
	for _, t := range catalog.Tools() {
		d := t.Declaration()
		d.Name = prefix + d.Name
		c.Tools = append(c.Tools, d)
	}
	for i, n := range calls {
		id, name := fmt.Sprint("call-", i), c.Tools[n].Name
		c.Turns = append(c.Turns, conversation.Turn{
			User: genai.NewContentFromText("Go on, please.", genai.RoleUser),
			Steps: []conversation.Step{
				{
					Answer:    &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: id, Name: name}}}},
					Responses: []*genai.FunctionResponse{{ID: id, Name: name, Response: map[string]any{"result": "done"}}},
				},
				{Answer: genai.NewContentFromText("It is done.", genai.RoleModel)},
			},
		})
	}
	return c
}

func playTools(t *testing.T, c *conversation.Conversation, layers longsession.Config) *replay.Report {
	t.Helper()
	report, err := replay.Play(t.Context(), c, replay.Policy{
		Config: compaction.Config{ContextWindow: 64_000, Summarizer: summarizer.Extractive{}, Synchronous: true, InvocationThreshold: compaction.Off},
		Layers: &layers,
	}, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) > 0 || report.Orphans > 0 {
		t.Errorf("problems %v, %d orphans", report.Problems, report.Orphans)
	}
	return report
}

// Declarations that are deferred are not sent, the recorded calls run all the same, and the report says what that
// saves and how many searches the model would have needed.
func TestDeferralIsReported(t *testing.T) {
	t.Parallel()
	report := playTools(t, withTools("mcp__", 3, 3, 7), longsession.Config{})
	d := report.Layers.Declarations
	if d == nil || d.Tools != 200 || d.Deferred != 200 || d.Searches != 2 {
		t.Fatalf("declarations %+v, want 200 tools, all deferred, and 2 searches", d)
	}
	if 5*d.Tokens > d.AllTokens {
		t.Errorf("%d of %d tokens of declarations were sent: less than 80%% was saved", d.Tokens, d.AllTokens)
	}
	if saved := report.Without.PromptTokens - report.With.PromptTokens; saved < (d.AllTokens-d.Tokens)*9/10 {
		t.Errorf("%d tokens were saved, of declarations alone %d", saved, d.AllTokens-d.Tokens)
	}
	if n := len(report.Layers.PrefixBreaks); n > 0 {
		t.Errorf("the prefix was broken: %v", report.Layers.PrefixBreaks)
	}
}

// Where nothing may be deferred, everything is declared in every request, and a cache serves it from the second
// one on.
func TestDeclarationsThatStayAreCounted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prefix string
		cfg    longsession.Config
	}{
		"tools of the app": {"", longsession.Config{}},
		"a high threshold": {"mcp__", longsession.Config{ToolSearch: toolsearch.Config{Threshold: 0.9}}},
		"turned off":       {"mcp__", longsession.Config{ToolSearch: toolsearch.Config{Threshold: toolsearch.Off}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := playTools(t, withTools(test.prefix, 3, 7), test.cfg)
			d := report.Layers.Declarations
			if d == nil || d.Deferred != 0 || d.Tokens != d.AllTokens || d.Searches != 0 {
				t.Fatalf("declarations %+v, want none deferred", d)
			}
			if each := d.Tokens / report.With.ModelCalls; report.With.CachedTokens < 3*each {
				t.Errorf("%d tokens were cached, and each of %d requests declares %d", report.With.CachedTokens, report.With.ModelCalls, each)
			}
		})
	}
	off := playTools(t, withTools("mcp__", 3), longsession.Config{Disable: []longsession.Layer{longsession.LayerToolSearch}})
	if off.Layers.Declarations != nil {
		t.Errorf("the layer is off, and reports %+v", off.Layers.Declarations)
	}
}
