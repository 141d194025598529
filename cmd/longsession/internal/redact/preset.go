package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// All is the preset of all presets.
const All = "all"

var presets = map[string][]rule{
	"keys":  keyRules,
	"email": {emails},
	"card":  cardRules,
	"iban":  {grouped(`[A-Za-z0-9]+`, `[ -]`, "-", isIBAN)},
	"phone": phoneRules,
}

// Presets names the forms that need no pattern: keys and tokens, e-mail addresses, payment cards
// and IBANs (both by their check digits), and phone numbers.
var Presets = []string{"keys", "email", "card", "iban", "phone", All}

// preset returns the rules of a preset.
func preset(name string) (rules []rule, err error) {
	if !slices.Contains(Presets, name) {
		return nil, fmt.Errorf("preset %q: choose from %s", name, strings.Join(Presets, ", "))
	}
	for _, one := range Presets {
		if name == one || name == All {
			rules = append(rules, presets[one]...)
		}
	}
	return rules, nil
}

// form returns the rule of an expression. If it has a group, the group is private, and the rest is
// what announces it. With marks a match must be alone, and is decides about what is left.
func form(expression, marks string, is func(match string) bool) rule {
	re, whole := lazy(expression), alone(marks)
	return func(text string) (found [][]int) {
		for _, m := range re().FindAllStringSubmatchIndex(text, -1) {
			m = m[len(m)-2:]
			if whole(text, m[0], m[1]) && (is == nil || is(text[m[0]:m[1]])) {
				found = append(found, m)
			}
		}
		return found
	}
}

// lazy compiles an expression when it is first needed: most runs of the command redact nothing, and all expressions
// together take longer than the rest of its start.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// grouped returns the rule for numbers that may be written in groups. In each run of groups it looks
// for the consecutive groups that are a number.
func grouped(group, separator, marks string, is func(number string) bool) rule {
	groups, runs, whole := lazy(group), lazy(group+`(?:`+separator+group+`)*`), alone(marks)
	return func(text string) (found [][]int) {
		for _, run := range runs().FindAllStringIndex(text, -1) {
			parts := groups().FindAllStringIndex(text[run[0]:run[1]], -1)
			for i := 0; i < len(parts); i++ {
				for j := i; j < len(parts) && parts[j][1]-parts[i][0] <= longestNumber; j++ {
					from, to := run[0]+parts[i][0], run[0]+parts[j][1]
					if is(text[from:to]) && whole(text, from, to) {
						found, i = append(found, []int{from, to}), j
						break
					}
				}
			}
		}
		return found
	}
}

// longestNumber bounds the length of a number with the signs between its groups.
const longestNumber = 80

// word is a character of words and numbers, of scripts that put blanks between them.
const word = `(?:[^\P{L}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]|[\p{Nd}_])`

// longestWord bounds the text in front of a match that alone looks at.
const longestWord = 100

// alone returns a function that reports whether a match is not a part of a longer word or number. On
// neither side may it touch a letter, a digit, or one of the marks if a word with a digit follows
// it, as in a UUID or a decimal fraction. Without marks every match is alone.
func alone(marks string) func(text string, from, to int) bool {
	if marks == "" {
		return func(string, int, int) bool { return true }
	}
	mark := `[` + regexp.QuoteMeta(marks) + `]`
	before, after := lazy(`(?:`+word+`|\d`+word+`*`+mark+`)$`), lazy(`^(?:`+word+`|`+mark+word+`*\d)`)
	return func(text string, from, to int) bool {
		return !before().MatchString(text[max(0, from-longestWord):from]) && !after().MatchString(text[to:])
	}
}

// digits returns the digits of a text.
func digits(text string) string { return notDigit.ReplaceAllString(text, "") }

var notDigit = regexp.MustCompile(`\D`)
