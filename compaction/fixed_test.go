package compaction_test

import (
	"fmt"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// TestTheFixedPartCountsBeforeTheProviderReports: with instructions and tools of 6,000 tokens, 1,500 tokens of
// conversation fill a window of 10,000 to more than seven tenths.
func TestTheFixedPartCountsBeforeTheProviderReports(t *testing.T) {
	t.Parallel()
	for name, fixed := range map[string]func(compaction.SessionRef, string, string) int{
		"nil": nil, "known": func(of compaction.SessionRef, agent, branch string) int {
			if of != ref || agent != "agent" && agent != "" || branch != "" {
				return 0
			}
			return 6_000
		},
		"panics": func(compaction.SessionRef, string, string) int { panic("boom") },
	} {
		cfg, oracle := oracleConfig()
		cfg.InvocationThreshold, cfg.RetainEvents, cfg.Fixed = compaction.Off, 2, fixed
		cfg.ContextWindow, cfg.MaxOutputTokens = 10_000, compaction.Off
		svc := newService(t, session.InMemoryService(), cfg)
		sess := create(t, svc)
		var h compactiontest.History
		for i := range 5 {
			h.Turn(fmt.Sprint("inv", i), "agent", words(130), words(130))
		}
		appendAll(t, svc, sess, h.Events...)
		if n := len(oracle.Requests()); n > 0 != (name == "known") {
			t.Errorf("%s: %d compactions of a prompt of %d tokens", name, n, status(t, svc).PromptTokens)
		}
	}
}
