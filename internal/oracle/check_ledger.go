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

// saidOpening begins what the user said in a summary, and saidLine each message of it.
const (
	saidOpening = "What the user said in these messages, word for word"
	saidLine    = "\n- "
)

// checkLedgers: one summary of each branch may list what the user said and exact values behind its prose, the last in
// front, or the last of all if none is in front. Each list is as long as its record allows at most, and has what that
// branch's records have only. Last means the one with the latest start.
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
		words, list := additionsOf(ev, m)
		if words+list == "" {
			continue
		}
		if places[m.Branch] != ev {
			c.problem(Formed, ev, "summary %s lists values, and is not the newest of its branch: a prompt changes at its head", ev.ID)
		}
		c.checkSaid(ev, m, words)
		if list == "" {
			continue
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

// checkSaid: what the user said is as long as the record allows at most, and every message is one of the branch.
func (c *checker) checkSaid(ev *session.Event, m *record.Metadata, words string) {
	if words == "" {
		return
	}
	if n := tokens.Estimate(words); n > m.SaidTokens {
		c.problem(Formed, ev, "summary %s repeats %d tokens of the user, and its record allows %d", ev.ID, n, m.SaidTokens)
	}
	lines := strings.Split(words, saidLine)
	if opening := strings.TrimSpace(lines[0]); !strings.HasSuffix(opening, "newer messages outweigh all:") || strings.Contains(opening, "\n") {
		c.problem(Formed, ev, "summary %s has %q in front of what it repeats of the user", ev.ID, opening)
	}
	for _, line := range lines[1:] {
		if !c.hasSaid(m.Branch, line) {
			c.problem(Formed, ev, "summary %s repeats %q, which no record has that branch %q shows", ev.ID, line, m.Branch)
		}
	}
}

// hasSaid reports whether a line shows a message of a record that is shown in a branch, or the beginning and the end of one
// that is long.
func (c *checker) hasSaid(branch, line string) bool {
	head, tail, cut := strings.Cut(line, "(... cut ...)")
	for _, m := range c.summaries {
		if m == nil || m.Branch != branch {
			continue
		}
		for _, s := range m.Said {
			text := letters(s.Text)
			if !cut && text == letters(line) || cut && strings.HasPrefix(text, letters(head)) && strings.HasSuffix(text, letters(tail)) {
				return true
			}
		}
	}
	return false
}

// additionsOf returns what of the user's words and of values a summary shows behind its prose, "" for none.
func additionsOf(ev *session.Event, m *record.Metadata) (words, list string) {
	if m == nil {
		return "", ""
	}
	prose, err := m.Text()
	text := bare(textOf(ev))
	end := strings.Index(text, bare(prose))
	if err != nil || end < 0 {
		return "", ""
	}
	words, list, found := strings.Cut(text[end+len(bare(prose)):], "\n\n"+ledgerOpening)
	if found {
		list, _, _ = strings.Cut(list, "\n")
		list = ledgerOpening + list
	}
	_, words, found = strings.Cut(words, saidOpening)
	if !found {
		return "", list
	}
	words, _, _ = strings.Cut(words, "\n\n") // before the sentence about a recall tool
	return saidOpening + strings.TrimSuffix(strings.TrimSpace(words), "[End of summary.]"), list
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
