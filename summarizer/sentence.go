package summarizer

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSentence is the maximum length of a sentence, in bytes. Longer text is split between words, so
// that an unbroken text (a log, a minified file) is not kept or dropped as a whole.
const maxSentence = 400

// sentences yields the sentences of text, trimmed, in one pass and without copying. A sentence ends
// at a line break, at . ! or ? before a space, and at the full stops of scripts without spaces.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, lastSpace := 0, -1
		emit := func(end int) bool {
			s := strings.TrimSpace(text[start:end])
			start, lastSpace = end, -1
			return blank(s) || yield(s)
		}
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			next := i + size
			switch {
			case isLineBreak(r):
				if !emit(next) {
					return
				}
			case strings.ContainsRune("。！？；।؟۔", r), isStop(r) && endsSentence(text, start, i, next):
				next = skipClosers(text, next)
				if !emit(next) {
					return
				}
			case unicode.IsSpace(r):
				lastSpace = next
			}
			if next-start > maxSentence {
				if lastSpace <= start {
					lastSpace = next
				}
				if !emit(lastSpace) {
					return
				}
			}
			i = next
		}
		if start < len(text) {
			emit(len(text))
		}
	}
}

func isLineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

func isStop(r rune) bool { return r == '.' || r == '!' || r == '?' || r == '…' }

// endsSentence reports whether the stop at text[at:next] ends a sentence: a space or the end of the
// text follows, and the stop belongs neither to an abbreviation ("e.g.") nor to a list number
// ("2.").
func endsSentence(text string, start, at, next int) bool {
	after, _ := utf8.DecodeRuneInString(text[skipClosers(text, next):])
	if next < len(text) && after != utf8.RuneError && !unicode.IsSpace(after) {
		return false
	}
	if text[at] != '.' {
		return true
	}
	before := strings.TrimSpace(text[start:at])
	word := before[strings.LastIndexAny(before, " \t(")+1:]
	if word == before && strings.Trim(word, "0123456789") == "" {
		return false
	}
	if strings.Contains(word, ".") && len(word) <= 5 { // e.g, i.e, U.S, a.m
		return false
	}
	switch strings.ToLower(word) {
	case "mr", "mrs", "ms", "dr", "prof", "st", "no", "nr", "vs", "approx", "inc", "ltd", "jr", "sr":
		return false
	}
	return utf8.RuneCountInString(word) != 1 || !unicode.IsUpper([]rune(word)[0])
}

func skipClosers(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !strings.ContainsRune("\"'”’)]」』》»", r) {
			break
		}
		i += size
	}
	return i
}
