package audit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// A healthy session has no findings, also if a summary is about events of an isolation scope. ADK v1 reads a file with
// scopes as one whose branches have them.
func TestASummaryOfAScopeIsFine(t *testing.T) {
	t.Parallel()
	path := stored(t, func(t *testing.T, path string) {
		cfg := compaction.DefaultConfig()
		cfg.Summarizer, cfg.Synchronous, cfg.InvocationThreshold, cfg.OverlapSize = &ct.Oracle{}, true, 1, 1
		var events []*session.Event
		for _, invocation := range []string{"i1", "i2", "i3", "i4", "i5"} {
			for _, scope := range []string{"call-1", "call-2"} {
				for _, author := range []string{"user", "worker"} {
					n := len(events) + 1
					ev := &session.Event{ID: fmt.Sprint("e", n), InvocationID: invocation, Author: author, Timestamp: time.Unix(int64(n), 0).UTC()}
					adk.SetLane(ev, adk.JoinLane("desk", scope))
					ev.Content = genai.NewContentFromText("Something about the order, which has number A-1041.", genai.RoleModel)
					if author == "user" {
						ev.Content.Role = genai.RoleUser
					}
					events = append(events, ev)
				}
			}
		}
		create(t, serviceOn(t, path, cfg), user, "order-1", events...)
	})
	if found, texts, done := verified(t, path, 1); len(found) > 0 || done.Records == 0 {
		t.Errorf("%d records\n%s", done.Records, texts)
	}
	f := open(t, path)
	all, err := f.Compactions(t.Context(), find(t, f, "order-1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Branch != "desk" || !strings.HasPrefix(c.Scope, "call-") {
			t.Errorf("a compaction of branch %q, scope %q", c.Branch, c.Scope)
		}
	}
}

// A record that covers an event of another scope hides it from whoever reads that scope.
func TestARecordOfTwoScopesIsFound(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", "q")
	for _, scope := range []string{"call-1", "call-1", "call-2", "call-2"} {
		h.Agent("i", "worker", "Something.")
		adk.SetLane(h.Last(), adk.JoinLane("", scope))
	}
	h.Agent("i", "bot", "a").Compact("s", "e2", "e3", "e4")
	found, texts, _ := verified(t, built(t, h), 5)
	if !strings.Contains(texts, `covers event "e4" of branch "\x1fcall-2", but the record is about branch "\x1fcall-1"`) {
		t.Errorf("found %v\n%s", found, texts)
	}
}
