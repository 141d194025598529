package audit_test

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// TestACutMessageKeepsNoPartOfAPrivateValue: a long message of the user is kept without its middle. The beginning or the end
// of a private value may be left there, in no form that a pattern knows.
func TestACutMessageKeepsNoPartOfAPrivateValue(t *testing.T) {
	t.Parallel()
	const cut = " (... cut ...) "
	h := (&ct.History{}).User("i", "Ask ada.lovelace@example.org or the desk.").Agent("i", "bot", "Noted.").Turns(2, "bot").Compact("r1", "e1", "e2")
	h.Amend(func(m *record.Metadata) {
		for _, text := range []string{"Ask ada.love" + cut + "the desk.", "Ask" + cut + "lace@example.org or the desk.", "Ask ada.love" + cut + "xample.org", "Ask" + cut + "the desk."} {
			m.Said = append(m.Said, record.Value{Text: text, Event: "e1"})
		}
	})
	path := built(t, h)
	events := eventsOf(t, exported(t, path, audit.JSONL, `[a-z.]+@[a-z.]+`))
	m, err := record.From(events[len(events)-1])
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	var texts []string
	for _, s := range m.Said {
		texts = append(texts, s.Text)
	}
	want := "Ask [redacted]" + cut + "the desk.|Ask" + cut + "[redacted] or the desk.|Ask [redacted]" + cut + "[redacted]|Ask" + cut + "the desk."
	if got := strings.Join(texts, "|"); got != want {
		t.Errorf("exported as %q, want %q", got, want)
	}
}

// A record by a later version, and words that were damaged, keep no part of a private value either.
func TestWhatCannotBeReadKeepsNoPartOfAPrivateValue(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(stored map[string]any){
		"a later version": func(stored map[string]any) { stored["version"] = 2.0 },
		"damaged words":   func(map[string]any) {},
	} {
		h := (&ct.History{}).User("i", "Ask ada.lovelace@example.org or the desk.").Agent("i", "bot", "Noted.").Turns(2, "bot").Compact("r1", "e1", "e2")
		stored := h.Last().CustomMetadata[record.Key].(map[string]any)
		stored["said"] = []any{map[string]any{"t": "Ask ada.love (... cut ...) the desk.", "e": 7.0}}
		change(stored)
		out := exported(t, built(t, h), audit.JSONL, `[a-z.]+@[a-z.]+`)
		if strings.Contains(out, "ada.love") || !strings.Contains(out, "cut ...) the desk.") {
			t.Errorf("%s: exported as %s", name, out)
		}
	}
}
