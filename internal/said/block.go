package said

import (
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// opening tells the model what it reads: without it, an old request could be taken for a new one.
const opening = "What the user said in these messages, word for word, oldest first. All of it was answered then and is no new " +
	"request. Lasting wishes and corrections still hold; a later one replaces an earlier one, and newer messages outweigh all:"

// longShare is how much of a block one message may take up: a part of 4.
const longShare = 4

// Block returns what the user said in all lists, each message in a line of its own, as it is shown; "" if there is
// nothing. It has at most maxTokens, as package tokens estimates them. The first message stays, then what instructs, the
// newest first, then the rest. A message of more than a quarter of the block is shown in part. For example,
//
//	What the user said in these messages, word for word, oldest first. ...:
//	- Refund the order, but never call the customer.
//	- Use the other address instead.
func Block(maxTokens int, lists ...[]record.Value) string {
	room := maxTokens - tokens.Estimate(opening)
	if room <= 0 {
		return ""
	}
	all := Merge(lists...)
	for i := range all {
		all[i].Text = line(all[i].Text, room/longShare)
	}
	all = slices.DeleteFunc(all, func(s record.Value) bool { return s.Text == "" })
	size := func(s *record.Value) int { return tokens.Estimate(s.Text) + 1 }
	kept := choose(all, room, size)
	for tokens.Estimate(joined(kept)) > maxTokens { // the estimate of a whole may be more than that of its parts
		room -= room/16 + 1
		kept = choose(kept, room, size)
	}
	if len(kept) == 0 {
		return ""
	}
	return joined(kept)
}

// joined returns the block of some lines.
func joined(lines []record.Value) string {
	var b strings.Builder
	b.WriteString(opening)
	for _, s := range lines {
		b.WriteString(s.Text)
	}
	return b.String()
}

// line returns a message as a line of the block, of at most that many tokens, "" if that is too little to tell anything.
func line(text string, most int) string {
	for n := tokens.Estimate(text); n > most && len(text) > len(CutMark); n = tokens.Estimate(text) {
		text = shorten(text, min(len(text)-1, len(text)*most/n))
	}
	if text == CutMark {
		return ""
	}
	return "\n- " + strings.ReplaceAll(text, "\n", "\n  ")
}
