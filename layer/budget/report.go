package budget

import (
	"fmt"
	"strconv"
	"strings"
)

// Report is one line about the latest turn and the sums:
//
//	Turn 5 | Input: 1200, Output: 850 | Avg/turn: 1050 | Total: 5250
//
// Turns, average and total are of this process: after a restart the first turn is "Turn 1" again.
//
// It ends in " (with estimates)" if a provider's count of any prompt was missing or not believed, so these tokens may
// differ from those that are billed.
func (t *Tracker) Report() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var latest TurnUsage
	if len(t.turns) > 0 {
		latest = t.turns[len(t.turns)-1]
	}
	line := fmt.Sprintf("Turn %d | Input: %d, Output: %d | Avg/turn: %d | Total: %d",
		latest.Number, latest.InputTokens, latest.OutputTokens, t.average(), t.input+t.output)
	if t.estimated {
		line += " (with estimates)"
	}
	return line
}

// Metrics is a block of lines about the use of the effective window:
//
//	📊 Context Usage:
//	   Tokens: 45000 / 120000 (37.5% used)
//	   Latest turn: Turn 5 | Input: 1200, Output: 850 | Avg/turn: 1050 | Total: 5250
//	   Compaction threshold: 70%
//	   Next summary in about 37 turns
//
// Where nobody compacts the session by itself, the last two lines are
//
//	Est. 71 turns remaining
//
// The line about the threshold is left out where that is off or not known, and the last one if no estimate is possible.
func (t *Tracker) Metrics() string {
	info, window, latest := t.Info(), t.Budget().EffectiveWindow(), t.Report()
	var out strings.Builder
	fmt.Fprintf(&out, "📊 Context Usage:\n   Tokens: %d / %d (%.1f%% used)\n   Latest turn: %s", info.Used, window, percent(info, window), latest)
	if info.CompactThreshold > 0 {
		fmt.Fprintf(&out, "\n   Compaction threshold: %.0f%%", 100*info.CompactThreshold)
	}
	switch next := nextSummary(info); {
	case next != "":
		fmt.Fprintf(&out, "\n   N%s", next[1:])
	case info.TurnsLeft > 0:
		fmt.Fprintf(&out, "\n   Est. %d turns remaining", info.TurnsLeft)
	}
	return out.String()
}

// Line is the use of the effective window in short:
//
//	📊 45K/1M (4.5%) next summary in about 290 turns
//
// Where nobody compacts the session by itself, it ends in "~450 turns left". The turns are left out if no estimate is
// possible.
func (t *Tracker) Line() string {
	info, window := t.Info(), t.Budget().EffectiveWindow()
	line := fmt.Sprintf("📊 %s/%s (%.1f%%)", short(info.Used), short(window), percent(info, window))
	switch next := nextSummary(info); {
	case next != "":
		line += " " + next
	case info.TurnsLeft > 0:
		line += fmt.Sprintf(" ~%d turns left", info.TurnsLeft)
	}
	return line
}

// nextSummary says when a session is compacted, "" if that is not known.
func nextSummary(info TokenInfo) string {
	unit, latest := "turns", ""
	if info.NextSummary == 1 {
		unit = "turn"
	}
	if info.ByPrice {
		latest = " at the latest"
	}
	if info.NextSummary == 0 {
		return ""
	}
	return fmt.Sprintf("next summary in about %d %s%s", info.NextSummary, unit, latest)
}

// percent is the used part of a window in percent, 0 if there is no window.
func percent(info TokenInfo, window int) float64 {
	if window <= 0 {
		return 0
	}
	return info.PercentUsed
}

// short writes a number of tokens with one decimal, unless that is 0: 950, 1.2K, 45K, 28.8K, 1M. It rounds to the
// nearest.
func short(n int) string {
	unit, suffix := 1_000, "K"
	switch {
	case n < 1_000:
		return strconv.Itoa(n)
	case n >= 999_950:
		unit, suffix = 1_000_000, "M"
	}
	text := strconv.FormatFloat(float64(n)/float64(unit), 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + suffix
}
