package redact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// All is the preset of all presets.
const All = "all"

var presets = map[string][]rule{
	"keys":  keyRules,
	"email": {emails},
	"card":  {cards},
	"iban":  {ibans},
	"phone": phoneRules,
}

// Presets names the forms that need no pattern: keys and tokens, e-mail addresses, payment cards
// and IBANs (both by their check digits), and phone numbers.
var Presets = []string{"keys", "email", "card", "iban", "phone", All}

// preset returns the rules of a preset.
func preset(name string) ([]rule, error) {
	if name == All {
		var all []rule
		for _, one := range Presets {
			all = append(all, presets[one]...)
		}
		return all, nil
	}
	rules, known := presets[name]
	if !known {
		return nil, fmt.Errorf("preset %q: choose from %s", name, strings.Join(Presets, ", "))
	}
	return rules, nil
}

// alone reports whether a match is not a part of a longer word or number. On neither side may it
// touch a letter, a digit, or one of the marks if a word with a digit follows it, as in a UUID or a
// decimal fraction.
func alone(text string, from, to int, marks string) bool {
	before, after := text[:from], text[to:]
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	if isWord(last) || isWord(first) {
		return false
	}
	if before != "" && strings.ContainsRune(marks, last) {
		word := before[:len(before)-utf8.RuneLen(last)]
		if strings.ContainsAny(word[strings.LastIndexFunc(word, notWord)+1:], "0123456789") {
			return false
		}
	}
	if after != "" && strings.ContainsRune(marks, first) {
		word := after[utf8.RuneLen(first):]
		if end := strings.IndexFunc(word, notWord); end >= 0 {
			word = word[:end]
		}
		return !strings.ContainsAny(word, "0123456789")
	}
	return true
}

func notWord(char rune) bool { return !isWord(char) }

func isWord(char rune) bool {
	return char != utf8.RuneError && (unicode.IsLetter(char) && !unicode.In(char, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || unicode.IsDigit(char) || char == '_')
}

// digits returns the digits of a text.
func digits(text string) string {
	return strings.Map(func(char rune) rune {
		if char >= '0' && char <= '9' {
			return char
		}
		return -1
	}, text)
}
