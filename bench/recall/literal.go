package main

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// said are the answers that some message has word for word.
func said(messages []message, answers []string) (found []string) {
	for _, answer := range answers {
		for _, m := range messages {
			if holds(m.text, answer) {
				found = append(found, answer)
				break
			}
		}
	}
	return found
}

// holdsAny reports whether a text has one of the answers word for word.
func holdsAny(text string, answers []string) bool {
	for _, answer := range answers {
		if holds(text, answer) {
			return true
		}
	}
	return false
}

// holds reports whether text has answer as whole words, in any case: "35" is not in "1350".
func holds(text, answer string) bool {
	text, answer = normal(text), normal(answer)
	if answer == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], answer)
		if i < 0 {
			return false
		}
		i += from
		if edge(text[:i], answer) && edge(answer, text[i+len(answer):]) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
}

// edge reports whether left and right meet between two words.
func edge(left, right string) bool {
	l, _ := utf8.DecodeLastRuneInString(left)
	r, _ := utf8.DecodeRuneInString(right)
	return !ofWord(l) || !ofWord(r)
}

// ofWord reports whether r is part of a word with others. A Chinese character is a word by itself.
func ofWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// normal is text in lower case, with single spaces.
func normal(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// letters is text in lower case, with nothing but letters, digits and single spaces.
func letters(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ")
}
