package record_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adk-go-ext/longsession/record"
)

// withValues is a record with values, which came after version 1 was fixed.
func withValues() *record.Metadata {
	m := full()
	m.LedgerTokens = 600
	m.Values = []record.Value{
		{Text: "order ORD-17", Kind: "identifier", Author: "user", Event: "event-1", At: m.StartTimestamp, Uses: 3, Score: 41.25},
		{Text: "3 May", Kind: "date", Score: 2},
	}
	return m
}

// toIntegers turns whole numbers into int64, as a service in memory may hold them.
func toIntegers(value any) {
	switch v := value.(type) {
	case map[string]any:
		for k, e := range v {
			if f, ok := e.(float64); ok && f == math.Trunc(f) {
				v[k] = int64(f)
			}
			toIntegers(e)
		}
	case []any:
		for _, e := range v {
			toIntegers(e)
		}
	}
}

func TestValuesAreOptional(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*record.Metadata{
		"none":         small(),
		"none, but on": func() *record.Metadata { m := small(); m.LedgerTokens = 600; return m }(),
	} {
		stored := record.Encode(m)
		if _, has := stored["values"]; has {
			t.Errorf("%s: a list without values is stored", name)
		}
		if got, err := record.Decode(stored); err != nil || got.LedgerTokens != m.LedgerTokens || got.Values != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, has := record.Encode(small())["ledger_tokens"]; has {
		t.Error("a ledger that is off is stored")
	}
}

// A damaged list of values hides no event without a summary, and drops no summary: what can be read is read, and
// the rest is as if it had never been there.
func TestDamagedValuesHarmNoRecord(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	good := object{"t": "order ORD-17", "s": 1.0}
	with := func(field string, value any) object {
		return object{"t": "ORD-18", "k": "identifier", "by": "user", "e": "e1", "at": "2026-03-14T15:09:26Z", "n": 1.0, "s": 1.0, field: value}
	}
	for name, r := range map[string]struct {
		values any
		want   int
	}{
		"nil":                {nil, 0},
		"text":               {"ORD-17", 0},
		"an object":          {object{"t": "ORD-17"}, 0},
		"an empty list":      {[]any{}, 0},
		"numbers":            {[]any{1.0, good}, 1},
		"nil in it":          {[]any{nil, good}, 1},
		"lists in it":        {[]any{[]any{good}, good}, 1},
		"no text":            {[]any{object{"s": 1.0}, good}, 1},
		"empty text":         {[]any{with("t", ""), good}, 1},
		"a number as text":   {[]any{with("t", 17.0), good}, 1},
		"a text of 1 MB":     {[]any{with("t", strings.Repeat("x", 1<<20)), good}, 1},
		"a kind of number":   {[]any{with("k", 1.0), good}, 1},
		"an author of list":  {[]any{with("by", []any{}), good}, 1},
		"an event of number": {[]any{with("e", 1.0), good}, 1},
		"no time":            {[]any{with("at", "soon"), good}, 1},
		"uses below 0":       {[]any{with("n", -1.0), good}, 1},
		"uses of 1.5":        {[]any{with("n", 1.5), good}, 1},
		"uses without end":   {[]any{with("n", math.Inf(1)), good}, 1},
		"score as text":      {[]any{with("s", "high"), good}, 1},
		"score not a number": {[]any{with("s", math.NaN()), good}, 1},
		"score below 0":      {[]any{with("s", -1.0), good}, 1},
		"score without end":  {[]any{with("s", math.Inf(1)), good}, 1},
		"an unknown field":   {[]any{with("added_later", true), good}, 2},
		"an unknown kind":    {[]any{with("k", "added later"), good}, 2},
	} {
		stored := record.Encode(full())
		stored["values"], stored["ledger_tokens"] = r.values, 600.0
		got, err := record.Decode(stored)
		if err != nil {
			t.Errorf("%s: the record is refused: %v", name, err)
			continue
		}
		if len(got.Values) != r.want || r.want > 0 && got.Values[len(got.Values)-1].Text != "order ORD-17" {
			t.Errorf("%s: read %+v, want %d", name, got.Values, r.want)
		}
		got.Values, got.LedgerTokens = nil, 0
		if diff := cmp.Diff(full(), got); diff != "" {
			t.Errorf("%s: the record is read differently (-want +got):\n%s", name, diff)
		}
	}
	for name, tokens := range map[string]any{"below 0": -1.0, "text": "600", "1.5": 1.5, "a million": 1e6, "nil": nil, "a list": []any{600.0}} {
		stored := record.Encode(full())
		stored["ledger_tokens"] = tokens
		if got, err := record.Decode(stored); err != nil || got.LedgerTokens != 0 {
			t.Errorf("ledger_tokens %s: %+v, %v", name, got, err)
		}
	}
}

// A record with a million values costs a view no more than one with a few thousand.
func TestValuesAreBounded(t *testing.T) {
	t.Parallel()
	m := full()
	m.Values = make([]record.Value, 1_000_000)
	for i := range m.Values {
		m.Values[i].Text = "value"
	}
	if n := len(record.Encode(m)["values"].([]any)); n != 4096 {
		t.Errorf("%d values are stored", n)
	}
	stored := record.Encode(full())
	forged := make([]any, 1_000_000)
	for i := range forged {
		forged[i] = map[string]any{"t": "value"}
	}
	stored["values"] = forged
	if got, err := record.Decode(stored); err != nil || len(got.Values) != 4096 {
		t.Errorf("%d values are read, %v", len(got.Values), err)
	}
}

// The values of a caller may be any; what is stored can be read by every backend.
func TestValuesThatCannotBeStoredAreLeftOut(t *testing.T) {
	t.Parallel()
	m := withValues()
	good := m.Values[0]
	for _, change := range []func(*record.Value){
		func(v *record.Value) { v.Text = "" },
		func(v *record.Value) { v.Text = strings.Repeat("x", 1025) },
		func(v *record.Value) { v.Score = math.NaN() },
		func(v *record.Value) { v.Score = math.Inf(1) },
		func(v *record.Value) { v.Score = -1 },
		func(v *record.Value) { v.Uses = -1 },
	} {
		bad := good
		change(&bad)
		m.Values = append(m.Values, bad)
	}
	late := good
	late.At = time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)
	m.Values = append(m.Values, late)
	data, err := json.Marshal(record.Encode(m))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := record.Decode(string(data)); err != nil || len(got.Values) != 3 {
		t.Errorf("%+v, %v", got.Values, err)
	}
}
