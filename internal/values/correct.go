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
		later := laterValues{}
		for end := len(group); end > 0; { // the newest first, those of one instant together
			begin := end - 1
			for begin > 0 && values[group[begin-1]].At.Equal(values[group[begin]].At) {
				begin--
			}
			for _, i := range group[begin:end] {
				replaced[i] = later.correct(&values[i])
			}
			for _, i := range group[begin:end] {
				later.add(&values[i])
			}
			end = begin
		}
	}
	return replaced
}

// laterValues are values on one topic, by author: enough of them to know whether any corrects an earlier value, so that
// a topic of a thousand values takes a thousand steps and not a million.
type laterValues map[string]*correcting

// correcting are the events in which one author says what a topic is, corrects it, or does both in one value.
type correcting struct{ is, cue, both twoEvents }

// add takes a value in that is later than those that will be asked about. Values of tools correct nothing.
func (l laterValues) add(v *record.Value) {
	if has(v.Kind, markTool) {
		return
	}
	by := l[v.Author]
	if by == nil {
		by = &correcting{}
		l[v.Author] = by
	}
	is, cue := has(v.Kind, markIs), has(v.Kind, markCue)
	if is {
		by.is.add(v.Event)
	}
	if cue {
		by.cue.add(v.Event)
	}
	if is && cue {
		by.both.add(v.Event)
	}
}

// correct reports whether a later value, of another event, replaces an earlier one.
func (l laterValues) correct(earlier *record.Value) bool {
	if has(earlier.Kind, markTool) {
		return false
	}
	is := has(earlier.Kind, markIs)
	for author, by := range l {
		switch {
		case author != earlier.Author:
			if is && by.both.otherThan(earlier.Event) {
				return true
			}
		case by.cue.otherThan(earlier.Event), is && by.is.otherThan(earlier.Event):
			return true
		}
	}
	return false
}

// twoEvents are the first two different events that were added: two tell whether there is one besides any event.
type twoEvents struct {
	events [2]string
	n      int
}

func (t *twoEvents) add(event string) {
	if t.n == 0 || t.n == 1 && t.events[0] != event {
		t.events[t.n] = event
		t.n++
	}
}

func (t *twoEvents) otherThan(event string) bool {
	return t.n == 2 || t.n == 1 && t.events[0] != event
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
