package audit_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

// TestARedactedRecordCanBeRead: its counts become 0 and its times are cut. Its summary would be
// missing otherwise, and nobody be told.
func TestARedactedRecordCanBeRead(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2")
	h.Amend(func(m *record.Metadata) {
		m.EventCount, m.OriginalTokens, m.CompactedTokens, m.CompressionRatio = 24, 2424, 240, 10.1
		m.StartTimestamp, m.EndTimestamp = histories.Epoch.Add(200*time.Millisecond), histories.Epoch.Add(524*time.Millisecond)
		m.LedgerTokens, m.Values = 600, []record.Value{{Text: "flight 24", Kind: "number", Author: "user", Event: "e1", At: histories.Epoch, Score: 24}}
		m.Focus, m.Model, m.Usage = "flight 24", "big-24", record.Usage{PromptTokens: 24, OutputTokens: 7}
		if err := m.SetText("Flight 24 is <late>."); err != nil {
			t.Fatal(err)
		}
	})
	h.Events[len(h.Events)-1].CustomMetadata["note"] = "gate 24"
	h.Events[len(h.Events)-1].CustomMetadata[record.Key].(map[string]any)["later_field"] = "seat 24"
	path := built(t, h)
	for _, pattern := range []string{`\b24\b`, `24`, `(?i)version|agent|covered|text "`} {
		events := eventsOf(t, exported(t, path, audit.JSONL, pattern))
		last := events[len(events)-1]
		m, err := record.From(last)
		if err != nil || m == nil {
			t.Errorf("%s: the record became %+v: %v", pattern, m, err)
			continue
		}
		if !strings.Contains(pattern, "24") {
			continue
		}
		text, err := m.Text()
		if err != nil || text != "Flight [redacted] is <late>." || m.Focus != "flight [redacted]" || m.EventCount != 0 || m.Usage.PromptTokens != 0 || m.Usage.OutputTokens != 7 || m.Level != 0 || len(m.Covered) != 2 {
			t.Errorf("%s: the record became %+v: %v", pattern, m, err)
		}
		if len(m.Values) != 1 || m.Values[0].Text != "flight [redacted]" || m.Values[0].Event != m.Covered[0].ID {
			t.Errorf("%s: the values became %+v", pattern, m.Values)
		}
		if pattern == "24" && (m.OriginalTokens != 0 || !m.EndTimestamp.Equal(histories.Epoch) || m.CompactedTokens != 0 || m.CompressionRatio != 10.1) {
			t.Errorf("%s: the record became %+v", pattern, m)
		}
		later := last.CustomMetadata[record.Key].(map[string]any)["later_field"]
		if last.CustomMetadata["note"] != "gate [redacted]" || later != "seat [redacted]" {
			t.Errorf("%s: the metadata became %v", pattern, last.CustomMetadata)
		}
		if page := exported(t, path, audit.Markdown, pattern); strings.Contains(page, "cannot be read") || !strings.Contains(page, "summary for 0 events") || !strings.Contains(page, "flight [redacted]") {
			t.Errorf("the page of %s:\n%s", pattern, page)
		}
	}
	if reflect.DeepEqual(eventsOf(t, exported(t, path, audit.JSONL)), eventsOf(t, exported(t, path, audit.JSONL, `24`))) {
		t.Error("nothing is redacted: this test looks in the wrong place")
	}
}
