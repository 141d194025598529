package oracle

import (
	"strings"
	"unicode"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// roundsOpening begins a summary that is shown behind an event.
const roundsOpening = "[Summary of earlier tool calls"

// ledgerOpening begins the list of exact values in a summary.
const ledgerOpening = "Exact values from these messages:"

// checkLedgers: one summary of each branch may list exact values behind its prose, the last in front, or the last
// of all if none is in front. The list is as long as its record allows at most, and has values of that branch's
// records only. Last means the one with the latest start.
func (c *checker) checkLedgers() {
	places := map[string]*session.Event{}
	for _, ev := range c.view {
		m := c.summaries[ev]
		if m == nil {
			continue
		}
		old := places[m.Branch]
		front, beside := !ofRounds(ev), old != nil && !ofRounds(old)
		if old == nil || front && !beside || front == beside && startsLater(m, c.summaries[old]) {
			places[m.Branch] = ev
		}
	}
	for _, ev := range c.view {
		m := c.summaries[ev]
		list := ledgerOf(ev, m)
		if list == "" {
			continue
		}
		if places[m.Branch] != ev {
			c.problem(Formed, ev, "summary %s lists values, and is not the newest of its branch: a prompt changes at its head", ev.ID)
		}
		if n := tokens.Estimate(list); n > m.LedgerTokens {
			c.problem(Formed, ev, "summary %s lists values of %d tokens, and its record allows %d", ev.ID, n, m.LedgerTokens)
		}
		for _, entry := range strings.Split(strings.TrimPrefix(list, ledgerOpening), " | ") {
			if !c.hasValue(m.Branch, entry) {
				c.problem(Formed, ev, "summary %s lists the value %q, which no record has that branch %q shows: it belongs to somebody else", ev.ID, entry, m.Branch)
			}
		}
	}
}

// ofRounds reports whether a summary is shown behind an event, as one of tool rounds.
func ofRounds(ev *session.Event) bool { return strings.HasPrefix(textOf(ev), roundsOpening) }

// startsLater reports whether a comes behind b in the order of summaries.
func startsLater(a, b *record.Metadata) bool {
	if !a.StartTimestamp.Equal(b.StartTimestamp) {
		return a.StartTimestamp.After(b.StartTimestamp)
	}
	return later(&stored{Metadata: a}, &stored{Metadata: b})
}

// ledgerOf returns the list of values that a summary shows behind its prose, "" for none.
func ledgerOf(ev *session.Event, m *record.Metadata) string {
	if m == nil {
		return ""
	}
	prose, err := m.Text()
	text := bare(textOf(ev))
	end := strings.Index(text, bare(prose))
	if err != nil || end < 0 {
		return ""
	}
	_, list, found := strings.Cut(text[end+len(bare(prose)):], ledgerOpening)
	if !found {
		return ""
	}
	list, _, _ = strings.Cut(list, "\n")
	return ledgerOpening + list
}

// hasValue reports whether an entry shows a value of a record that is shown in a branch. Only letters and digits
// are compared, because a view may escape the rest.
func (c *checker) hasValue(branch, entry string) bool {
	for _, m := range c.summaries {
		if m == nil || m.Branch != branch {
			continue
		}
		for _, v := range m.Values {
			if letters(v.Text) != "" && strings.Contains(letters(entry), letters(v.Text)) {
				return true
			}
		}
	}
	return false
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return -1
	}, text)
}
