package values

import (
	"slices"
	"strings"
	"unicode"
)

// LeftOut stands in a text for what may be a secret.
const LeftOut = "(left out: may be a secret)"

// Announces reports whether the last sentence of a text may be answered by a secret: "What is your PIN?"
func Announces(text string) bool {
	announces := false
	eachSentence(text[max(0, len(text)-1024):], func(s *sentence) { announces = secretNear(s.text) })
	return announces
}

// WithoutSecrets returns a text with LeftOut in place of each sentence that may hold a secret, once for several in a row.
// If one was announced, the first sentence may, and so may lines without an end of a sentence, up to the first that has
// one: a list, or a block of code. A text that has gone through it stays as it is. It returns "" if nothing else would be
// left.
func WithoutSecrets(text string, announced bool) string {
	text = withoutKeyBlocks(text)
	safe := withoutCards(text) == text
	var b strings.Builder
	kept, marked, listed, end := false, false, false, 0
	opening := announced
	eachSentence(text, func(s *sentence) {
		mark := strings.TrimSpace(s.text) == LeftOut // by an earlier call: what it stood for is gone
		near := !mark && secretNear(s.text)
		if listed && s.begin > end { // a blank line
			announced = false
		}
		end = s.end
		if mark || near || announced || !safe && withoutCards(s.text) != s.text || slices.ContainsFunc(strings.Fields(s.text), isSecret) {
			goesOn := opening && !mark && opensAnswer(s.text)
			opening = goesOn
			listed = announced && !mark && !goesOn && opensLine(s.text)
			announced = listed || goesOn || near && endsOpen(s.text)
			if !marked {
				b.WriteString(" " + LeftOut + "\n")
			}
			marked = true
			return
		}
		b.WriteString(s.text)
		kept, marked, listed, opening = true, false, false, false
	})
	if !kept {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// opensAnswer reports whether a sentence says nothing, as "Sure." and "Here you are:" do: what was asked for is behind it.
func opensAnswer(s string) bool {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !stop[w] && !openers[w] && !chatter[w] })
}

// opensLine reports whether a line is one of several, because no sentence ends in it.
func opensLine(line string) bool {
	text := strings.TrimRight(line, " \t\r\n")
	return strings.HasSuffix(line, "\n") && !strings.ContainsAny(text[max(0, len(text)-1):], ".!?") && !slices.ContainsFunc([]string{"。", "！", "？"}, func(end string) bool { return strings.HasSuffix(text, end) })
}
