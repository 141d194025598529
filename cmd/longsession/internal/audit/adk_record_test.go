package audit_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// TestRecordsOfADKsCompactionAreNamed, in a field of a row that a later version of ADK has, and in metadata, as it is read
// from a service without a field for it. Neither is in the view, and both are sound.
func TestRecordsOfADKsCompactionAreNamed(t *testing.T) {
	t.Parallel()
	const compaction = `{"startTimestamp":"2026-01-01T00:00:00.25Z","endTimestamp":"2026-01-01T00:02:00.5Z","compactedContent":{"role":"model","parts":[{"text":"All is well."}]}}`
	h := (&ct.History{}).Turns(2, "bot")
	for _, id := range []string{"adk1", "adk2"} {
		h.AddEvent(&session.Event{ID: id, InvocationID: id, Author: "user"})
	}
	h.Events[5].CustomMetadata = map[string]any{"_compaction": map[string]any{"compacted_content": map[string]any{}}}
	path := built(t, h.Turn("inv3", "bot", "And now?", "Now it rains."))
	f := open(t, path)
	if _, err := f.Verify(t.Context(), []*audit.Session{find(t, f, "")}, 0, func(found audit.Finding) error {
		t.Errorf("%+v", found)
		return nil
	}, func(*audit.Session) {}); err != nil {
		t.Error(err)
	}
	run(t, path, `UPDATE events SET extra = '{"further":{"Actions.Compaction":`+compaction+`}}' WHERE id = 'adk1'`)
	f = open(t, path)
	s := find(t, f, "")
	records, err := f.Compactions(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var seqs []int64
	for _, c := range records {
		if seqs = append(seqs, c.Seq); c.State != audit.Unreadable || !strings.Contains(c.Problem, "ADK's own compaction") || !strings.Contains(c.Problem, "remove EventsCompactionConfig") {
			t.Errorf("%+v", c)
		}
	}
	if !slices.Equal(seqs, []int64{5, 6}) {
		t.Errorf("records %v are named", seqs)
	}
}
