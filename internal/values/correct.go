package values

import (
	"cmp"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/internal/terms"
	"github.com/adk-go-ext/longsession/record"
)

// A value corrects another one if it is of the same kind, has the same words before it, and is later:
//
//	user: The budget is $500.          is replaced, because the second message says what the budget is
//	user: The budget is $650 now.      budget $650
//
// Both messages must say what it is ("is", a colon), or the later one must say that it corrects: "Actually, the
// budget should be $650". Without such a word the two may be about different things: "I bought 2 apples" does not
// correct "I bought 3 apples". Another author corrects a value only by saying so. A wrong replacement is worse
// than two values, so in doubt both are shown.

// corrections reports for each value whether another one of the list replaces it.
func corrections(values []record.Value) []bool {
	replaced := make([]bool, len(values))
	groups := map[string][]int{}
	for i := range values {
		if k := topic(&values[i]); k != "" {
			groups[k] = append(groups[k], i)
		}
	}
	for _, group := range groups {
		if len(group) < 2 {
			continue
		}
		slices.SortFunc(group, func(a, b int) int {
			return cmp.Or(values[a].At.Compare(values[b].At), cmp.Compare(a, b))
		})
		for n, i := range group {
			for _, k := range group[n+1:] {
				if corrected(&values[i], &values[k]) {
					replaced[i] = true
					break
				}
			}
		}
	}
	return replaced
}

// corrected reports whether the later of two values on one topic replaces the earlier.
func corrected(earlier, later *record.Value) bool {
	if !later.At.After(earlier.At) || earlier.Event == later.Event {
		return false
	}
	if has(later.Kind, markTool) || has(earlier.Kind, markTool) {
		return false
	}
	if later.Author != earlier.Author {
		return has(later.Kind, markCue) && has(later.Kind, markIs) && has(earlier.Kind, markIs)
	}
	return has(later.Kind, markIs) && has(earlier.Kind, markIs) || has(later.Kind, markCue)
}

// topic is what a value is about: its kind, the words before it, and its unit. "" if no word says so.
func topic(v *record.Value) string {
	kind := plain(v.Kind)
	switch kind {
	case kindDate, kindNumber, kindMoney, kindCount, kindID, kindOwn:
	default:
		return ""
	}
	before, core := parts(v)
	words := terms.Terms(before)
	if len(words) == 0 {
		return ""
	}
	slices.Sort(words)
	if kind == kindDate && strings.Contains(core, ":") {
		kind = "time"
	}
	unit := ""
	if kind == kindNumber || kind == kindCount {
		if _, behind, found := strings.Cut(core, " "); found {
			unit = strings.Join(terms.Terms(behind), " ")
		}
	}
	return kind + "\x00" + strings.Join(slices.Compact(words), " ") + "\x00" + unit
}
