package compaction

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// A compaction of one branch says nothing of what agents in its siblings report. Learned again with each,
// two reports would look like a line that is known for certain.
func TestReportsAreLearnedOnce(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Summarizer, cfg.InvocationThreshold, cfg.SafetyRatio = &ct.Oracle{}, Off, Off
	svc, err := NewCompactionService(session.InMemoryService(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Close(t.Context())
	ref := SessionRef{AppName: "app", UserID: "user", SessionID: "session"}
	made, err := svc.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	var h ct.History
	say := func(branch, invocation, author string, prompt int32) {
		h.Branch(branch).Agent(invocation, author, strings.Repeat("word ", 100))
		ev := h.Last()
		if prompt > 0 {
			ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: prompt, CandidatesTokenCount: 100}
		}
		if err := svc.AppendEvent(t.Context(), made.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	say("y", "inv1", "y", 1_000)
	say("y", "inv1", "y", 1_150)
	stored := 0
	for i := range 3 {
		for j := range 4 {
			say("x", fmt.Sprintf("inv%d-%d", i+2, j), "x", 0)
		}
		result, err := svc.Compact(t.Context(), ref, CompactOptions{KeepRecent: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !result.Skipped {
			stored++
		}
	}
	agent := svc.states.of(ref).prompts.fitsIn("y")["y"]
	if stored == 0 || agent != nil && agent.fit.Weight() > 2 {
		t.Errorf("%d compactions; two reports are known as %+v", stored, agent)
	}
}
