package record_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/adk-go-ext/longsession/record"
)

// withSaid is a record with words of the user, which came after version 1 was fixed.
func withSaid() *record.Metadata {
	m := full()
	m.SaidTokens, m.UserTokens, m.AsksSecret = 1000, 250_000, true
	m.Said = []record.Value{{Text: "Never call the customer.", Event: "event-1", At: m.StartTimestamp}, {Text: "Use red\ninstead."}}
	return m
}

// Damaged words of the user hide no event without a summary, and drop no summary.
func TestDamagedWordsHarmNoRecord(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	good := object{"t": "Never call the customer."}
	with := func(field string, value any) object {
		return object{"t": "Use red.", "e": "e1", "at": "2026-03-14T15:09:26Z", field: value}
	}
	for name, r := range map[string]struct {
		said any
		want int
	}{
		"nil":                {nil, 0},
		"text":               {"Never", 0},
		"an object":          {good, 0},
		"numbers":            {[]any{1.0, good}, 1},
		"nil in it":          {[]any{nil, good}, 1},
		"empty text":         {[]any{with("t", ""), good}, 1},
		"a number as text":   {[]any{with("t", 17.0), good}, 1},
		"text not in UTF-8":  {[]any{with("t", "a\xff"), good}, 1},
		"a text of 1 MB":     {[]any{with("t", strings.Repeat("x", 1<<20)), good}, 1},
		"an event of number": {[]any{with("e", 1.0), good}, 1},
		"no time":            {[]any{with("at", "soon"), good}, 1},
		"an unknown field":   {[]any{with("added_later", true), good}, 2},
	} {
		stored := record.Encode(full())
		stored["said"], stored["said_tokens"] = r.said, 1000.0
		got, err := record.Decode(stored)
		if err != nil {
			t.Errorf("%s: the record is refused: %v", name, err)
			continue
		}
		if len(got.Said) != r.want || r.want > 0 && got.Said[len(got.Said)-1].Text != "Never call the customer." {
			t.Errorf("%s: read %+v, want %d", name, got.Said, r.want)
		}
		got.Said, got.SaidTokens = nil, 0
		if diff := cmp.Diff(full(), got); diff != "" {
			t.Errorf("%s: the record is read differently (-want +got):\n%s", name, diff)
		}
	}
	for name, tokens := range map[string]any{"below 0": -1.0, "text": "600", "a million": 1e6, "nil": nil, "without end": math.Inf(1)} {
		stored := record.Encode(full())
		stored["said_tokens"] = tokens
		if got, err := record.Decode(stored); err != nil || got.SaidTokens != 0 {
			t.Errorf("said_tokens %s: %+v, %v", name, got, err)
		}
		stored["user_tokens"], stored["asks_secret"] = tokens, tokens
		if got, err := record.Decode(stored); err != nil || got.AsksSecret || got.UserTokens != 0 && got.UserTokens != 1e6 {
			t.Errorf("user_tokens %s: %+v, %v", name, got, err)
		}
	}
}

// A record with a million messages costs a view no more than one with a thousand, and one of 64 KiB no more than that.
func TestWordsAreBounded(t *testing.T) {
	t.Parallel()
	many, long := make([]record.Value, 1_000_000), make([]record.Value, 1_000)
	for i := range many {
		many[i].Text = "Go."
	}
	for i := range long {
		long[i].Text = strings.Repeat("word ", 1000)
	}
	for name, r := range map[string]struct {
		said []record.Value
		want int
	}{"many": {many, 1024}, "long": {long, 64 << 10 / 5000}} {
		m := full()
		m.Said = r.said
		if n := len(record.Encode(m)["said"].([]any)); n != r.want {
			t.Errorf("%s: %d are stored, want %d", name, n, r.want)
		}
		var forged []any
		for _, s := range r.said {
			forged = append(forged, map[string]any{"t": s.Text})
		}
		stored := record.Encode(full())
		stored["said"] = forged
		if got, err := record.Decode(stored); err != nil || len(got.Said) != r.want {
			t.Errorf("%s: %d are read, %v", name, len(got.Said), err)
		}
	}
}
