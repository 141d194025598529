package budget

import (
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
)

// notesIn returns the notes in stored tool results, in order.
func notesIn(t *testing.T, svc session.Service) []string {
	t.Helper()
	stored := must(svc.Get(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}))
	var notes []string
	for ev := range stored.Session.Events().All() {
		if ev.Content == nil {
			continue
		}
		for i, p := range ev.Content.Parts {
			if p.FunctionResponse == nil {
				continue
			}
			if note, found := p.FunctionResponse.Response[noteKey]; found {
				notes = append(notes, note.(string))
				if i != len(ev.Content.Parts)-1 {
					t.Errorf("the note is in response %d of %d", i+1, len(ev.Content.Parts))
				}
			}
		}
	}
	return notes
}

func TestTheModelIsToldOncePerStepInTheVeryNextRequest(t *testing.T) {
	t.Parallel()
	for _, offered := range []bool{false, true} {
		log, seen := &journal{}, 0
		m := newMeter(t, Config{ContextWindow: 20_000, MaxOutputTokens: compaction.Off, Thresholds: Thresholds{Note: 0.5}, Observer: log.Observe}, log)
		inner := &script{t: t, name: "test-model", plan: append(cycle(25, looksUp(2)), says("Done."))}
		tools := []tool.Tool{lookup(t, 300, nil)}
		if offered {
			tools = append(tools, must(functiontool.New(functiontool.Config{Name: "compact_context", Description: "Frees space."},
				func(agent.ToolContext, struct{}) (map[string]any, error) { return nil, nil })))
		}
		others := 0
		other := must(plugin.New(plugin.Config{Name: "other", OnEventCallback: func(agent.InvocationContext, *session.Event) (*session.Event, error) {
			others++
			return nil, nil
		}}))
		svc := session.InMemoryService()
		c := newChat(t, svc, newAgent(t, llmagent.Config{Name: "assistant", Model: m.Model(inner), Tools: tools}), m.Plugin(), other)
		events := c.mustAsk("Look everything up.")
		notes := notesIn(t, svc)
		if len(notes) < 5 || len(notes) > 10 || len(notes) != len(log.of(Noted)) {
			t.Errorf("%d notes, %d reported: %q", len(notes), len(log.of(Noted)), notes)
		}
		for i, note := range notes {
			if log.of(Noted)[i].Reason != note || strings.Contains(note, "compact_context") != offered {
				t.Errorf("note %q, reported as %q", note, log.of(Noted)[i].Reason)
			}
		}
		for _, request := range inner.requests {
			told := strings.Count(request, noteKey)
			if told < seen || told > len(notes) {
				t.Errorf("a request has %d notes, the one before %d", told, seen)
			}
			seen = told
		}
		if seen != len(notes) {
			t.Errorf("the last request has %d notes of %d", seen, len(notes))
		}
		if len(log.of(PrefixBroken)) > 0 {
			t.Errorf("notes break the prefix: %+v", log.of(PrefixBroken))
		}
		if others != len(events) {
			t.Errorf("the plugin behind ours has seen %d of %d events", others, len(events))
		}
	}
}

func TestNoNotesAreWrittenBelowTheThresholdOrIfOff(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"room":     {ContextWindow: 1_000_000},
		"off":      {ContextWindow: 40_000, Thresholds: Thresholds{Note: compaction.Off}},
		"not seen": {ContextWindow: 40_000}, // the model is not wrapped
	} {
		m := newMeter(t, cfg)
		inner := &script{t: t, name: "test-model", plan: append(cycle(25, looksUp(2)), says("Done."))}
		svc := session.InMemoryService()
		agentCfg := llmagent.Config{Name: "assistant", Model: m.Model(inner), Tools: []tool.Tool{lookup(t, 300, nil)}}
		if name == "not seen" {
			agentCfg.Model = inner
		}
		newChat(t, svc, newAgent(t, agentCfg), m.Plugin()).mustAsk("Look everything up.")
		if notes := notesIn(t, svc); len(notes) > 0 {
			t.Errorf("%s: %q", name, notes)
		}
	}
}

// A broken context, event or observer must not reach the caller of Run.
func TestThePluginSurvivesEverything(t *testing.T) {
	t.Parallel()
	m := newMeter(t, Config{})
	for name, ev := range map[string]*session.Event{
		"nil": nil, "empty": {}, "nil part": {LLMResponse: model.LLMResponse{Content: &genai.Content{Parts: []*genai.Part{nil, {FunctionResponse: &genai.FunctionResponse{}}}}}},
	} {
		for _, ctx := range []agent.InvocationContext{nil, brokenContext{}} {
			if got, err := m.onEvent(ctx, ev); got != nil || err != nil {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if got, err := m.guardRun(ctx); got != nil || err != nil {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	}
}

// brokenContext panics whatever is asked of it.
type brokenContext struct{ agent.InvocationContext }
