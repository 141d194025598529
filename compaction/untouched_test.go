package compaction_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// rich returns turns whose events use whatever an event can hold.
func rich(n int) []*session.Event {
	h := &compactiontest.History{}
	for i := 1; i <= n; i++ {
		inv, call := fmt.Sprintf("inv%d", i), fmt.Sprintf("call%d", i)
		h.User(inv, fmt.Sprintf("Please look up the code for item %d and remember %s.", i, compactiontest.Fact(i)))
		h.Last().Content.Parts = append(h.Last().Content.Parts, genai.NewPartFromBytes([]byte{1, 2, byte(i)}, "image/png"))
		h.Call(inv, "agent", "lookup", call)
		h.Last().Content.Parts[0].FunctionCall.Args = map[string]any{"item": float64(i), "deep": map[string]any{"list": []any{"a", "b"}}}
		h.Last().Content.Parts[0].ThoughtSignature = []byte("signature")
		h.Response(inv, "agent", "lookup", "It is written on the usual shelf, in the usual place.", call)
		h.Last().Content.Parts[0].FunctionResponse.Response["more"] = map[string]any{"nested": []any{"c"}}
		h.Agent(inv, "agent", fmt.Sprintf("The code for item %d is on the shelf, and I have told you all about it.", i))
		h.Last().Actions.StateDelta = map[string]any{"seen": fmt.Sprint(i), "app:all": map[string]any{"x": "y"}}
		h.Last().CustomMetadata = map[string]any{"mine": []any{"z"}}
		h.Last().GroundingMetadata = &genai.GroundingMetadata{WebSearchQueries: []string{"q"}}
		h.Last().UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 100, CandidatesTokenCount: 10}
	}
	return h.Events
}

// vandal changes all it can reach of what it is given.
type vandal struct{ compactiontest.Oracle }

func (v *vandal) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	result, err := v.Oracle.Summarize(ctx, summarizer.Request{Summaries: req.Summaries, MaxTokens: req.MaxTokens})
	for i, ev := range req.Events {
		ev.ID, ev.Author, ev.Branch = "gone", "nobody", "nowhere"
		for _, p := range ev.Content.Parts {
			p.Text = "changed"
			if p.FunctionCall != nil {
				p.FunctionCall.Name = "changed"
				p.FunctionCall.Args["item"] = "changed"
				if deep, ok := p.FunctionCall.Args["deep"].(map[string]any); ok {
					deep["list"].([]any)[0] = "changed"
				}
			}
			if p.FunctionResponse != nil {
				p.FunctionResponse.Response["more"].(map[string]any)["nested"].([]any)[0] = "changed"
			}
			if p.InlineData != nil {
				p.InlineData.Data[0] = 99
			}
			if len(p.ThoughtSignature) > 0 {
				p.ThoughtSignature[0] = 'X'
			}
		}
		ev.Content.Parts = nil
		for key := range ev.Actions.StateDelta {
			ev.Actions.StateDelta[key] = "changed"
		}
		req.Events[i] = nil
	}
	return result, err
}

// TestCompactionLeavesStoredAndCallersEventsUntouched: nothing that was there before a compaction is
// different after it, also where the summarizer writes into what it was given.
func TestCompactionLeavesStoredAndCallersEventsUntouched(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]func() compaction.Summarizer{
		"oracle":     func() compaction.Summarizer { return &compactiontest.Oracle{} },
		"vandal":     func() compaction.Summarizer { return &vandal{} },
		"extractive": func() compaction.Summarizer { return summarizer.Extractive{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				cfg, _ := manualOnly()
				cfg.Summarizer, cfg.MaxSummaries = s(), 2
				svc := newService(t, inner, cfg)
				sess := create(t, svc)
				mine := rich(12)
				want := jsonOf(t, mine)
				written := 0
				for i := 0; i < len(mine); i += 12 {
					appendAll(t, svc, sess, mine[i:i+12]...)
					before := rawEvents(t, svc)
					snapshot := jsonOf(t, before)
					stored, known := map[string]bool{}, map[string]bool{}
					for _, ev := range before {
						stored[ev.ID], known[ev.ID] = true, true
					}
					result := compact(t, svc, compaction.CompactOptions{KeepRecent: 1})
					if result.Skipped {
						t.Fatalf("skipped: %s", result.Reason)
					}
					after := rawEvents(t, svc)
					if got := jsonOf(t, before); got != snapshot { // in memory these are the stored events
						t.Errorf("stored events changed:\n%s", cmp.Diff(snapshot, got))
					}
					// The database service gives a record, which has the newest event's time, either place.
					var same []*session.Event
					for _, ev := range after {
						if known[ev.ID] = known[ev.ID] || compaction.IsCompactionEvent(ev); !known[ev.ID] {
							t.Errorf("a compaction stored %s", ev.ID)
						}
						if stored[ev.ID] {
							same = append(same, ev)
						}
					}
					if got := jsonOf(t, byID(same)); got != jsonOf(t, byID(before)) {
						t.Errorf("stored events read again are different:\n%s", cmp.Diff(snapshot, got))
					}
					written += len(after) - len(before)
				}
				if written < 4 {
					t.Errorf("only %d records written", written)
				}
				if got := jsonOf(t, mine); got != want {
					t.Errorf("the caller's events changed:\n%s", cmp.Diff(want, got))
				}
			})
		})
	}
}

// TestSessionReadBareIsAsIfNeverWrapped: take the wrapper away and ADK sees every event in its
// place, and of the records nothing: they have no content.
func TestSessionReadBareIsAsIfNeverWrapped(t *testing.T) {
	t.Parallel()
	for _, b := range backends(t) {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			inner, bare := b.Open(t), b.Anew(t).Open(t)
			cfg, _ := oracleConfig()
			svc := newService(t, inner, cfg)
			appendAll(t, svc, create(t, svc), rich(12)...)
			appendAll(t, bare, create(t, bare), rich(12)...)
			records := 0
			var rest []*session.Event
			for ev := range get(t, inner).Events().All() {
				if !compaction.IsCompactionEvent(ev) {
					rest = append(rest, ev)
					continue
				}
				records++
				if ev.Content != nil || ev.UsageMetadata != nil || len(ev.Actions.StateDelta) > 0 || ev.Author != "user" {
					t.Errorf("record %s is more than metadata", ev.ID)
				}
			}
			if records == 0 {
				t.Fatal("nothing was compacted")
			}
			if want, got := jsonOf(t, eventsOf(get(t, bare))), jsonOf(t, rest); want != got {
				t.Errorf("read bare, the session is different:\n%s", cmp.Diff(want, got))
			}
			if want, got := fmt.Sprint(stateOf(get(t, bare))), fmt.Sprint(stateOf(get(t, inner))); want != got {
				t.Errorf("state is %s, want %s", got, want)
			}
		})
	}
}

func byID(events []*session.Event) []*session.Event {
	return slices.SortedFunc(slices.Values(events), func(a, b *session.Event) int { return strings.Compare(a.ID, b.ID) })
}

func stateOf(sess session.Session) map[string]any {
	out := map[string]any{}
	for key, value := range sess.State().All() {
		out[key] = value
	}
	return out
}

// TestViewSnapshotStaysAsItWas: what Events returned once does not change under its reader.
func TestViewSnapshotStaysAsItWas(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	events := turns(10)
	appendAll(t, svc, sess, events[:8]...)
	snapshot := sess.Events()
	before := compactiontest.IDs(eventsOf(sess))
	appendAll(t, svc, sess, events[8:]...)
	if len(summariesIn(t, svc)) == 0 {
		t.Fatal("nothing was compacted")
	}
	if snapshot.Len() != len(before) {
		t.Fatalf("a snapshot grew from %d to %d", len(before), snapshot.Len())
	}
	for i, id := range before {
		if snapshot.At(i).ID != id {
			t.Errorf("position %d of a snapshot became %s, was %s", i, snapshot.At(i).ID, id)
		}
	}
}
