package audit_test

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// TestASummaryKeepsNoBeginningOfASecret: a summary that was cut in the middle of a card number has
// most of it, in no form that a preset knows. So does one that stands in front of the only event
// with the number.
func TestASummaryKeepsNoBeginningOfASecret(t *testing.T) {
	t.Parallel()
	const card = "4111 1111 1111 1111"
	for _, c := range []struct{ said, summary, want string }{
		{"my card is " + card, "card 4111 1111 1111 1…\nuser: my card is " + card, "card [redacted]…\nuser: my card is [redacted]"},
		{"my card is " + card, "card 4111\u00a0111… and so on", "card [redacted]… and so on"},
		{"my card is " + card, "The card is 4111 1111 1111", "The card is [redacted]"},
		{"my card is " + card, "mail ada@exam…", "mail [redacted]…"},
		{"my card is " + card, "paid 41…, 4711… and 1111…", "paid 41…, 4711… and 1111…"},
		{"no card at all", "card 4111 1111 1111 1…", "card [redacted]…"},
		{"no card at all", "A plain summary…", "A plain summary…"},
	} {
		h := (&ct.History{}).User("i", c.said).Agent("i", "bot", "Noted.").Turns(2, "bot").Compact("r1", "e1", "e2")
		h.Amend(func(m *record.Metadata) {
			if err := m.SetText(c.summary); err != nil {
				t.Fatal(err)
			}
			m.Focus, m.Uncut = c.summary, c.summary
		})
		h.User("j", "ada@example.org")
		h.Call("j", "bot", "pay", "c")
		h.Events[len(h.Events)-1].Content.Parts[0].FunctionCall.Args = map[string]any{"card": 4111111111111111}
		h.Response("j", "bot", "pay", "ok", "c")
		path := built(t, h)
		r, err := redact.New(nil, []string{redact.All})
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, path)
		var out strings.Builder
		if _, err := f.Export(t.Context(), []*audit.Session{find(t, f, "")}, audit.JSONL, r, &out); err != nil {
			t.Fatal(err)
		}
		for _, ev := range eventsOf(t, out.String()) {
			m, err := record.From(ev)
			if m == nil || err != nil {
				continue
			}
			if got, err := m.Text(); err != nil || got != c.want || m.Focus != c.want || m.Uncut != c.want {
				t.Errorf("%q became %q with focus %q, uncut %q: %v", c.summary, got, m.Focus, m.Uncut, err)
			}
		}
		if strings.Contains(out.String(), "4111") && !strings.Contains(c.want, "4111") {
			t.Errorf("%q: a card is left in %s", c.summary, out.String())
		}
	}
}
