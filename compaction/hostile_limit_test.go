package compaction_test

import (
	"fmt"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
)

// wantPromptBelow checks that the next prompt can be sent.
func wantPromptBelow(t *testing.T, svc *compaction.CompactionSessionService, limit int) {
	t.Helper()
	if got := status(t, svc); got.PromptTokens >= limit {
		t.Errorf("the prompt has %d tokens, want less than %d", got.PromptTokens, limit)
	}
}

// The model refused the message; its turn never ended, so only the hard limit can help the next one.
func TestAMessageTooLongForTheModelIsSummarizedWithTheNextOne(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), (&compactiontest.History{}).User("inv1", words(200_000)).User("inv2", "Hello?").Events...)
	wantPromptBelow(t, svc, status(t, svc).HardLimit)
}

func TestASummaryOfMegabytesIsCut(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "megabytes are read in one goroutine")
	cfg, _ := oracleConfig()
	cfg.Summarizer = hostileAnswers["ten megabytes"]
	svc := newService(t, session.InMemoryService(), cfg)
	h := (&compactiontest.History{}).User("huge", words(huge/5)).Agent("huge", "agent", "Yes.").Turns(6, "agent")
	appendAll(t, svc, create(t, svc), h.Events...)
	wantPromptBelow(t, svc, status(t, svc).HardLimit)
}

func TestAtTheHardLimitASummarizerThatOnlyRepeatsDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	cfg.Summarizer, cfg.ContextWindow, cfg.InvocationThreshold = hostileAnswers["what it was given, twice"], 4000, compaction.Off
	svc := newService(t, session.InMemoryService(), cfg)
	h := &compactiontest.History{}
	for i := range 40 {
		h.Turn(fmt.Sprint("inv", i), "agent", words(150), words(150))
	}
	appendAll(t, svc, create(t, svc), h.Events...)
	wantPromptBelow(t, svc, status(t, svc).HardLimit)
}

func TestAtTheHardLimitAUnitTooLargeForTheModelIsSummarizedWithoutIt(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig() // a summarizer reads 64,000 tokens
	svc := newService(t, session.InMemoryService(), cfg)
	h := (&compactiontest.History{}).User("big", "Go").Call("big", "agent", "t", callIDs(0, 1000)...).
		Response("big", "agent", "t", words(130), callIDs(0, 1000)...).Agent("big", "agent", "Done.").Turns(20, "agent")
	appendAll(t, svc, create(t, svc), h.Events...)
	wantPromptBelow(t, svc, status(t, svc).HardLimit)
}

// A writer and a critic in a loop are one invocation, and no agent has a long stretch to itself.
func TestTwoAgentsByTurnsInOneTurnStayBounded(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	cfg.Summarizer = &terse{}
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.TokenThreshold = compaction.Off, 1_000_000, 4000
	svc := newService(t, session.InMemoryService(), cfg)
	h := (&compactiontest.History{}).User("inv", "Write it, and review it.")
	for i := range 400 {
		h.Agent("inv", []string{"writer", "critic"}[i%2], words(200))
	}
	appendAll(t, svc, create(t, svc), h.Events...)
	wantPromptBelow(t, svc, 8000)
	checkView(t, svc)
}
