package integration_test

import (
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/memory"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// remember adds a session to a new memory service.
func remember(t *testing.T, sess session.Session) memory.Service {
	t.Helper()
	service := memory.InMemoryService()
	if err := service.AddSessionToMemory(t.Context(), sess); err != nil {
		t.Fatal(err)
	}
	return service
}

// recall returns the memory entries with a word.
func recall(t *testing.T, service memory.Service, word string) []memory.Entry {
	t.Helper()
	resp, err := service.SearchMemory(t.Context(), &memory.SearchRequest{AppName: ref.AppName, UserID: ref.UserID, Query: word})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Memories
}

// If memory reads the session with Raw, every question is found in the user's words, however often
// it was summarized since, and no summary counts as something that was said. If memory reads the
// view, hidden questions are found only in summaries.
func TestMemoryOfTheRawSessionHoldsWhatWasSaid(t *testing.T) {
	t.Parallel()
	overStorages(t, []mode{synchronous, flushed, reopened}, func(t *testing.T, store storages.Storage, m mode) {
		a := newApp(t, store, m)
		x := newActor(a, "assistant", "")
		a.start(a.llm(x, func(cfg *llmagent.Config) { cfg.Tools = []tool.Tool{a.lookup()} }))
		questions := map[string]string{}
		for i := range m.turns(store, 30) {
			if i%3 == 0 {
				x.will(a.lookups(1))
			}
			x.will(answer())
			a.ledger.nextTurn()
			fact := a.tell("user")
			// The memory service splits text into words at blanks.
			a.question = "The code " + fact + " is that of another item; please remember it for later, as always."
			a.send(genai.NewContentFromText(a.question, genai.RoleUser))
			questions[fact] = a.question
		}
		a.verify(a.turns / 8)

		raw, err := a.svc.Raw(t.Context(), getRequest())
		if err != nil {
			t.Fatal(err)
		}
		view, err := a.svc.Get(t.Context(), getRequest())
		if err != nil {
			t.Fatal(err)
		}
		full, short := remember(t, raw.Session), remember(t, view.Session)
		onlySummarized := 0
		for fact, question := range questions {
			found := recall(t, full, fact)
			if len(found) != 1 || found[0].Content.Parts[0].Text != question || found[0].Author != "user" {
				t.Errorf("%s is not found as it was said: %s", fact, canonical(found))
			}
			found = recall(t, short, fact)
			if len(found) == 1 && isSummary(found[0].Content) {
				onlySummarized++
			}
		}
		if onlySummarized < len(questions)/3 {
			t.Errorf("of %d questions, the view has only %d in summaries: nothing was compared", len(questions), onlySummarized)
		}
		if len(recall(t, short, "[Summary")) == 0 || len(recall(t, full, "[Summary")) > 0 {
			t.Error("a summary must be in the memory of the view, and of nothing else")
		}
	})
}
