package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// TestAnExactValueIsRedactedWithItsText: a pattern with a key finds the value in the call's arguments, but not in the
// record's list, where it has no key.
func TestAnExactValueIsRedactedWithItsText(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", "q").Call("i", "desk", "open", "c")
	h.Last().Content.Parts[0].FunctionCall.Args = map[string]any{"key": "vault 7 ORD-17", "parcel": "ORD-44"}
	h.Response("i", "desk", "open", "done", "c").Agent("i", "desk", "It is open.").Turns(2, "desk").Compact("r1", "e1", "e2", "e3", "e4")
	h.Amend(func(m *record.Metadata) {
		for _, text := range []string{"vault 7 ORD-17", "ORD-17", "key vault 7 ORD-17", "parcel ORD-44"} {
			m.Values = append(m.Values, record.Value{Text: text, Kind: "id", Event: "e2", Score: 1})
		}
	})
	path := built(t, h)
	for pattern, want := range map[string]string{
		`key":"[^"]*"`:    "[[redacted] [redacted] [redacted] parcel ORD-44]",
		`parcel":"[^"]*"`: "[vault 7 ORD-17 ORD-17 key vault 7 ORD-17 [redacted]]",
		`ORD-1\d`:         "[vault 7 [redacted] [redacted] key vault 7 [redacted] parcel ORD-44]",
		`nothing`:         "[vault 7 ORD-17 ORD-17 key vault 7 ORD-17 parcel ORD-44]",
	} {
		events := eventsOf(t, exported(t, path, audit.JSONL, pattern))
		m, err := record.From(events[len(events)-1])
		if err != nil || m == nil {
			t.Fatal(pattern, m, err)
		}
		var texts []string
		for _, v := range m.Values {
			texts = append(texts, v.Text)
		}
		if got := fmt.Sprint(texts); got != want {
			t.Errorf("%s leaves the values %s, want %s", pattern, got, want)
		}
		if page := exported(t, path, audit.Markdown, pattern); strings.HasPrefix(pattern, "key") && strings.Contains(page, "ORD-17") {
			t.Errorf("the page of %s has the value:\n%s", pattern, page)
		}
	}
}
