package audit

import (
	"github.com/adk-go-ext/longsession/internal/said"
	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
)

// checkValues checks that the record's values and the user's words in it can be read, and that each is in an event that the
// record or one of those that it absorbs covers. For example, somebody who adds a value to a record, so that a model reads
// it in each prompt, must also name a covered event that has it.
//
// An app may have a function that takes texts out before values are stored, and a value has words of its context.
// So [values.Holds] looks for words with digits only, or for all words of a value without digits.
func (c *recordCheck) checkValues() {
	stored, _ := c.row.Event.CustomMetadata[record.Key].(map[string]any)
	if entries, has := stored["values"]; has {
		if list, is := entries.([]any); !is || len(list) != len(c.m.Values) {
			c.report("has values that cannot be read: they were changed")
		}
	}
	if entries, has := stored["said"]; has {
		if list, is := entries.([]any); !is || len(list) != len(c.m.Said) {
			c.report("has words of the user that cannot be read: they were changed")
		}
	}
	for field, shown := range map[string]int{"ledger_tokens": c.m.LedgerTokens, "said_tokens": c.m.SaidTokens, "user_tokens": c.m.UserTokens} {
		if _, has := stored[field]; has && shown == 0 {
			c.report("has a %s that cannot be read: it was changed", field)
		}
	}
	for field, read := range map[string]bool{"kept": c.m.Kept != nil, "invented": c.m.Invented > 0} {
		if _, has := stored[field]; has && !read {
			c.report("has a field %q that cannot be read: it was changed", field)
		}
	}
	covered := map[string]bool{}
	found := c.family(c.m, covered, map[string]bool{})
	for _, s := range c.m.Said {
		ev := c.byID[s.Event]
		switch {
		case !known(s.Event):
		case !covered[s.Event]:
			if found {
				c.report("has words of event %q, which it does not cover: they were added", s.Event)
			}
		case ev != nil && !said.Holds(ev, s.Text):
			c.report("has words of event %q that are not in it: they or the event were changed", s.Event)
		}
	}
	for _, v := range c.m.Values {
		if !known(v.Event) {
			continue
		}
		if !covered[v.Event] {
			if found {
				c.report("has the value %q of event %q, which it does not cover: the value was added", v.Text, v.Event)
			}
			continue
		}
		if ev := c.byID[v.Event]; ev != nil && !values.Holds(ev, v) {
			c.report("has the value %q of event %q, which does not have it: the value or the event was changed", v.Text, v.Event)
		}
	}
}

// family adds the IDs of all events that a record covers, directly and through what it absorbs, and reports whether
// each record that is absorbed was found.
func (c *recordCheck) family(m *record.Metadata, covered, seen map[string]bool) bool {
	for _, ref := range m.Covered {
		covered[ref.ID] = true
	}
	found := true
	for _, id := range m.Absorbed {
		if seen[id] {
			continue
		}
		seen[id] = true
		a := c.records[id]
		found = a != nil && c.family(a, covered, seen) && found
	}
	return found
}
