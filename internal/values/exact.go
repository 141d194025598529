package values

import (
	"strings"

	"github.com/adk-go-ext/longsession/record"
)

// The kinds of values that [In] returns.
const (
	Date   = kindDate
	Quote  = kindQuote
	ID     = kindID
	Path   = kindPath
	Link   = kindLink
	Number = kindNumber
	Money  = kindMoney
)

// Exact is a value of a text: its kind, the value, and at most two words before it that say what it is.
type Exact struct{ Kind, Text, Before string }

// In returns the exact values of a text, quotations first and the others in their order, at most 400. It leaves out names,
// numbers in words, what may be a secret, and what stands next to a word such as "password".
func In(text string) []Exact {
	var f finder
	var out []Exact
	for _, v := range f.find(text, false) {
		switch kind := plain(v.kind); kind {
		case Date, Quote, ID, Path, Link, Number, Money:
			out = append(out, Exact{kind, v.core, v.context})
		case kindName: // "Order A-17" holds an identifier
			for word := range strings.FieldsSeq(v.core) {
				if strings.ContainsAny(word, "0123456789") && !isDigits(word) {
					out = append(out, Exact{ID, word, ""})
				}
			}
		}
	}
	return out
}

// Core returns a value of [Of] without the words before it, and whether it is of a kind that [In] returns, or a name.
func Core(v *record.Value) (core Exact, is bool) {
	before, text := parts(v)
	switch kind := plain(v.Kind); kind {
	case Date, Quote, ID, Path, Link, Number, Money, kindName:
		return Exact{kind, text, before}, true
	}
	return Exact{}, false
}
