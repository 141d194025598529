package replaycmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// conclusion sums a run up in a sentence, such as "Saves 84% of the prompt tokens, $0.95 of $1.13,
// over 5 conversations; nothing was lost." For a grid it describes the cheapest policy.
func conclusion(p *plan, sum *summary) string {
	if sum.conversations() == 0 {
		return ""
	}
	best := cheapest(p, sum)
	t := sum.totals[0]
	who := ""
	if len(best) > 0 {
		t = sum.totals[best[0]]
		who = cheapestNames(sum, best)
	}
	text := effect(t, p.model.Priced()) + " over " + played(sum) + "; " + lost(t)
	text += inHindsight(p, sum)
	if n := sum.findings; n > 0 {
		text += "; see " + terminal.Plural(n, "finding") + " below"
	}
	if n := sum.leftOut; n > 0 {
		were := "were"
		if n == 1 {
			were = "was"
		}
		text += "; " + terminal.Plural(n, "conversation") + " " + were + " left out"
	}
	if who == "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return who + text + "."
}

// played counts the conversations, and says so if the run ended early.
func played(sum *summary) string {
	over := terminal.Plural(sum.conversations(), "conversation")
	switch {
	case sum.complete:
		return over
	case sum.conversations() == 1:
		return "the " + strings.TrimPrefix(over, "1 ") + " played so far"
	}
	return "the " + over + " played so far"
}

// cheapestNames names the policies of a grid that the sentence is about, and begins the sentence.
func cheapestNames(sum *summary, best []int) string {
	const most = 3
	switch n := len(best); {
	case n == 1:
		return "Cheapest: " + sum.totals[best[0]].Policy + ". It "
	case n == len(sum.totals) && n > 2:
		return "All " + terminal.Commas(n) + " policies tie: none is cheaper than another. Each "
	default:
		var names []string
		for _, i := range best[:min(n, most)] {
			names = append(names, sum.totals[i].Policy)
		}
		if n > most {
			names = append(names, terminal.Plural(n-most, "other"))
		}
		return "Cheapest, a tie: " + terminal.List(names, "and") + ". Each "
	}
}

// effect describes the effect of a policy on the prompts and the bill, which may differ: a policy that
// saves tokens can cost more, because a shorter prompt begins anew and the provider's cache misses
// it, or because of the summaries. Then effect connects the two with "but".
func effect(t replay.Total, priced bool) string {
	before, after := chart.Cost(t.Without, replay.Summaries{}, true), chart.Cost(t.With, t.Summarizer, true)
	text, connects := "", " and"
	switch saved := t.Without.PromptTokens - t.With.PromptTokens; {
	case saved > 0:
		text, connects = "saves "+shareInWords(saved, t.Without.PromptTokens)+" of the prompt tokens", " but"
	case saved < 0:
		text = "sends " + shareInWords(-saved, t.Without.PromptTokens) + " more prompt tokens"
	case t.Compactions == 0:
		text = "never compacts and saves no prompt tokens"
	default:
		text = "saves no prompt tokens"
	}
	switch {
	case !priced || chart.SameCost(before, after):
		return text
	case after < before && t.With.PromptTokens < t.Without.PromptTokens:
		return text + ", " + usd(before-after) + " of " + usd(before) + ","
	case after < before:
		return text + " but saves " + usd(before-after) + " of " + usd(before)
	default:
		return text + connects + " costs " + usd(after-before) + " more than " + usd(before)
	}
}

// usd writes an amount with cents. An amount under ten cents gets two significant digits.
func usd(amount float64) string {
	if amount == 0 {
		return "$0"
	}
	if digits := 1 - int(math.Floor(math.Log10(amount))); digits > 2 {
		return "$" + strconv.FormatFloat(amount, 'f', digits, 64)
	}
	return "$" + humanize.FormatFloat("#,###.##", amount)
}

// shareInWords is part of whole in percent. It is 0% or 100% only if it is exactly that.
func shareInWords(part, whole int) string {
	percent := 100 * float64(part) / float64(max(whole, 1))
	rounded := math.Round(percent)
	switch {
	case percent == rounded, rounded != 0 && rounded != 100, percent > 100:
		return fmt.Sprintf("%.0f%%", percent)
	case percent < 0.1:
		return "less than 0.1%"
	case percent > 99.9:
		return "over 99.9%"
	}
	return fmt.Sprintf("%.1f%%", percent)
}

// lost lists what a policy lost: calls without results, broken rules of the view, answers to
// questions.
func lost(t replay.Total) string {
	var parts []string
	switch {
	case t.Orphans == 1:
		parts = append(parts, "1 orphaned call or result")
	case t.Orphans > 1:
		parts = append(parts, terminal.Commas(t.Orphans)+" orphaned calls or results")
	}
	if t.Hidden > 0 {
		parts = append(parts, terminal.Plural(t.Hidden, "violation")+" of the rules for a view")
	}
	intact := len(parts) == 0
	if f := t.Facts; f != nil && f.Questions > f.Kept {
		parts = append(parts, fmt.Sprintf("%s of %s cannot be answered from the last prompt", terminal.Commas(f.Questions-f.Kept), terminal.Plural(f.Questions, "question")))
	}
	switch {
	case len(parts) == 0:
		return "nothing was lost"
	case intact:
		return "no call or event was lost, but " + parts[0]
	}
	return "lost: " + strings.Join(parts, ", ")
}
