package record

import "math"

// Bounds of what is stored and read. A record that somebody forged or damaged may claim any amount, and each
// view of its session would pay for it.
const (
	maxValues       = 4096    // a ledger of 4,096 values has 20,000 tokens and more
	maxValueText    = 1024    // bytes; a longer text is no exact value
	maxLedgerTokens = 100_000 // more than summaries ever take up
)

// Values are an addition to a record that is complete without them. So a value that cannot be read is left out,
// and the others stay: to refuse the record for it would show the events that the record hides, or drop a good
// summary. A ledger_tokens that cannot be read is 0, so no values are shown.

// valid reports whether a value can be stored and read.
func (v *Value) valid() bool {
	return v.Text != "" && len(v.Text) <= maxValueText && v.Uses >= 0 && v.Uses <= 1<<53 &&
		v.Score >= 0 && !math.IsInf(v.Score, 0) // NaN is not >= 0
}

func encodeValues(values []Value) []any {
	var out []any
	for _, v := range values {
		if !v.valid() || len(out) == maxValues {
			continue
		}
		object := map[string]any{fValueText: v.Text, fValueScore: v.Score}
		for field, text := range map[string]string{fValueKind: v.Kind, fValueAuthor: v.Author, fValueEvent: v.Event} {
			if text != "" {
				object[field] = text
			}
		}
		if !v.At.IsZero() {
			object[fValueAt] = encodeTime(v.At)
		}
		if v.Uses > 0 {
			object[fValueUses] = float64(v.Uses)
		}
		out = append(out, object)
	}
	return out
}

// decodeValues reads the values that can be read.
func decodeValues(stored any) []Value {
	list, _ := stored.([]any)
	var out []Value
	for _, entry := range list {
		if len(out) == maxValues {
			break
		}
		object, ok := entry.(map[string]any)
		if !ok {
			continue
		}
		d := decoder{object: object}
		v := Value{
			Text: d.text(fValueText, required), Kind: d.text(fValueKind, optional),
			Author: d.text(fValueAuthor, optional), Event: d.text(fValueEvent, optional),
			At: d.time(fValueAt, optional), Uses: d.integer(fValueUses, optional), Score: d.number(fValueScore, optional),
		}
		if d.err == nil && v.valid() {
			out = append(out, v)
		}
	}
	return out
}

func decodeLedgerTokens(object map[string]any) int {
	d := decoder{object: object}
	if n := d.integer(fLedgerTokens, optional); d.err == nil && n <= maxLedgerTokens {
		return n
	}
	return 0
}
