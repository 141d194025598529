package docs_test

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// steady is a session that grows by the same number of tokens with each call of the model.
type steady struct {
	growth int     // tokens
	cached float64 // price of cached input, in prices of other input
}

// played is what became of a steady session.
type played struct {
	calls, first int // first is the call after which it was compacted first, 0 for never
	compactions  int
	fired        compaction.Economy // at first
	end          compaction.EconomyStatus
}

// inputPrice and outputPrice are in USD per million tokens.
const inputPrice, outputPrice = 3, 15

// play appends the calls of a session to the compaction service, with summaries of 500 tokens.
func (s steady) play(t *testing.T, calls int) played {
	t.Helper()
	registry, err := tokens.NewRegistry(tokens.Model{Name: "steady", ContextWindow: 100_000_000, InputPrice: inputPrice, CachedInputPrice: s.cached * inputPrice, OutputPrice: outputPrice})
	if err != nil {
		t.Fatal(err)
	}
	p := played{calls: calls}
	call := 0
	writer := summarizer.Func(func(_ context.Context, req summarizer.Request) (summarizer.Result, error) {
		read := 0
		for _, ev := range req.Events {
			read += tokens.OfContent(ev.Content)
		}
		return summarizer.Result{Content: numbered(genai.RoleModel, 500), Usage: tokens.Usage{PromptTokens: read, OutputTokens: 500}}, nil
	})
	service, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{
		Summarizer: writer, Registry: registry, AgentModel: "steady", Synchronous: true,
		MaxLedgerTokens: compaction.Off,
		Observer: func(_ context.Context, o compaction.Observation) {
			if o.Outcome != compaction.Stored {
				return
			}
			if p.compactions++; p.first == 0 {
				p.first, p.fired = call, o.Economy
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close(t.Context())
	ref := compaction.SessionRef{AppName: "docs", UserID: "reader", SessionID: "steady"}
	created, err := service.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	texts := []*genai.Content{numbered(genai.RoleUser, s.growth/2), numbered(genai.RoleModel, s.growth/2)}
	start := time.Now().Add(-time.Duration(2*calls) * time.Second)
	for call = 1; call <= calls; call++ {
		for i, text := range texts {
			ev := session.NewEventWithContext(t.Context(), fmt.Sprint("call", call))
			ev.Author, ev.Content = []string{"user", "agent"}[i], text
			ev.Timestamp = start.Add(time.Duration(2*call+i) * time.Second)
			if err := service.AppendEvent(t.Context(), created.Session, ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	status, err := service.Status(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	p.end = status.Economy
	return p
}

// numbered is a text of so many tokens, in which no word comes twice.
func numbered(role genai.Role, n int) *genai.Content {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d ", i)
	}
	text := b.String()
	return genai.NewContentFromText(text[:sort.Search(len(text), func(k int) bool { return tokens.Estimate(text[:k]) >= n })], role)
}

// share is what the session cost of what it would have cost without compaction, answers left out.
func (p played) share(s steady) float64 {
	n, price := float64(p.calls), inputPrice/1e6
	without := price * float64(s.growth) * (n + s.cached*n*(n-1)/2)
	return 1 - (p.end.Saved-p.end.Spent)/without
}

// TestEconomicsIsWhatHappens plays the sessions of economics.md, and requires the document to show what came of them.
func TestEconomicsIsWhatHappens(t *testing.T) {
	t.Parallel()
	document := read(t, "economics.md")
	const calls = 500
	var table strings.Builder
	for _, growth := range []int{100, 500, 2_000} {
		for _, cached := range []float64{0.1, 0.25, 0.5, 1} {
			s := steady{growth, cached}
			p := s.play(t, calls)
			fmt.Fprintf(&table, "| %d | %g | %d | %d | %.2f |\n", growth, cached, p.first, p.compactions, p.share(s))
		}
	}
	if !strings.Contains(document, table.String()) {
		t.Errorf("economics.md does not have the table\n%s", table.String())
	}
	p := steady{1_000, 0.1}.play(t, 100)
	e := p.fired
	example := fmt.Sprintf("```text\nafter call     %d\nWindow         %d tokens     MinWindow  %d\nSaving         $%.4f          Price      $%.4f\nHeld           $%.4f          Threshold  $%.4f\n```\n",
		p.first, e.Window, e.MinWindow, e.Saving, e.Price, e.Held, e.Threshold)
	if !strings.Contains(document, example) {
		t.Errorf("economics.md does not have the example\n%s", example)
	}
}
