package record

import (
	"math"
	"unicode/utf8"
)

// bounds are those of a list in a record.
type bounds struct {
	count       int // of entries
	text, texts int // bytes of one text, and of all
}

var (
	ofValues = bounds{maxValues, maxValueText, math.MaxInt}
	ofSaid   = bounds{1024, 8 << 10, 64 << 10} // some 2,000 tokens of it are shown
)

// Bounds of what is stored and read. A record that somebody forged or damaged may claim any amount, and each
// view of its session would pay for it.
const (
	maxValues       = 4096    // a ledger of 4,096 values has 20,000 tokens and more
	maxValueText    = 1024    // bytes; a longer text is no exact value
	maxLedgerTokens = 100_000 // more than summaries ever take up
)

// Values, and what the user said, are an addition to a record that is complete without them. So an entry that cannot be
// read is left out, and the others stay: to refuse the record for it would show the events that the record hides, or drop
// a good summary. A ledger_tokens or said_tokens that cannot be read is 0, so nothing of them is shown, and a user_tokens
// is 0, too.

// valid reports whether a value can be stored and read.
func (v *Value) valid(within bounds) bool {
	return v.Text != "" && len(v.Text) <= within.text && utf8.ValidString(v.Text) && v.Uses >= 0 && v.Uses <= 1<<53 &&
		v.Score >= 0 && !math.IsInf(v.Score, 0) // NaN is not >= 0
}

func encodeValues(values []Value, within bounds) []any {
	var out []any
	for _, v := range values {
		if !v.valid(within) || len(v.Text) > within.texts || len(out) == within.count {
			continue
		}
		within.texts -= len(v.Text)
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
func decodeValues(stored any, within bounds) []Value {
	list, _ := stored.([]any)
	var out []Value
	for _, entry := range list {
		if len(out) == within.count {
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
		if d.err == nil && v.valid(within) && len(v.Text) <= within.texts {
			within.texts -= len(v.Text)
			out = append(out, v)
		}
	}
	return out
}

// decodeCount reads a number of at most most, 0 if there is none that can be read.
func decodeCount(object map[string]any, field string, most int) int {
	d := decoder{object: object}
	if n := d.integer(field, optional); d.err == nil && n >= 0 && n <= most {
		return n
	}
	return 0
}

// maxUserTokens is the largest UserTokens that a record stores, far more than any user writes: sums of several do not
// overflow.
const maxUserTokens = 1 << 31

// maxInvented is far more than any summary has of values.
const maxInvented = 1 << 20

// isShare reports whether a number is one from 0 to 1.
func isShare(v float64) bool { return v >= 0 && v <= 1 } // NaN is neither

// decodeShare reads a share, nil if there is none that can be read.
func decodeShare(object map[string]any, field string) *float64 {
	if _, has := object[field]; !has {
		return nil
	}
	d := decoder{object: object}
	if v := d.number(field, required); d.err == nil && isShare(v) {
		return &v
	}
	return nil
}
