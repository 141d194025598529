package audit

import (
	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
)

// checkValues checks that the record's values can be read, and that each is in an event that the record or one of
// those that it absorbs covers. For example, somebody who adds a value to a record, so that a model reads it in each
// prompt, must also name a covered event that has it.
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
	if _, has := stored["ledger_tokens"]; has && c.m.LedgerTokens == 0 {
		c.report("has a ledger_tokens that cannot be read: it was changed")
	}
	covered := map[string]bool{}
	found := c.family(c.m, covered, map[string]bool{})
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
