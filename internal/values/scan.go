package values

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is what a token looks like.
type class uint8

const (
	classWord   class = iota // letters, with an apostrophe or a hyphen inside
	classNumber              // digits, with signs such as % and $, ranges, units: 35, 1,200.50, 10-15, $5k, 20km
	classMoney
	classTime // 7:30, 7pm
	classDate // 2026-03-02, 3/14/2026
	classID
	classPath
	classLink
	classHan
	classPunct // anything else: a sign that separates
)

// token is a piece of a text: a word with what is attached to it, or a run of Chinese or Japanese characters.
type token struct {
	text       string
	begin, end int
	class      class
	lower      string // of words
}

// maxToken is the longest token in bytes that is a value. A longer one is data.
const maxToken = 160

// sentence is a part of a text that ends at a line break or at a sign such as a period.
type sentence struct {
	text       string
	begin, end int // in the whole text
	tokens     []token
}

// eachSentence calls f with each sentence of a text. The tokens are used again for the next one.
func eachSentence(text string, f func(s *sentence)) {
	var s sentence
	begin := 0
	emit := func(end int) {
		if strings.TrimSpace(text[begin:end]) != "" {
			s.text, s.begin, s.end = text[begin:end], begin, end
			s.tokens = appendTokens(s.tokens[:0], s.text)
			f(&s)
		}
		begin = end
	}
	for i, r := range text {
		size := utf8.RuneLen(r)
		switch r {
		case '\n', '\r', '\u2028', '\u2029', '。', '！', '？', '；':
			emit(i + size)
		case '.', '!', '?', ';':
			if endsSentence(text, i) {
				emit(i + size)
			}
		}
	}
	emit(len(text))
}

// endsSentence reports whether the sign at i ends a sentence: a space follows, and it is not behind a single
// letter or an abbreviation, as in "J. Doe" and "Dr. Lee".
func endsSentence(text string, i int) bool {
	rest := text[i+1:]
	rest = strings.TrimLeft(rest, `"')]”’»`)
	if rest != "" {
		if r, _ := utf8.DecodeRuneInString(rest); !unicode.IsSpace(r) && !isHan(r) {
			return false
		}
	}
	if text[i] != '.' {
		return true
	}
	word := text[max(0, i-8):i]
	if at := strings.LastIndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '.' }); at >= 0 {
		word = word[at:]
		word = strings.TrimLeftFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
	}
	return len(word) != 1 && !abbreviations[strings.ToLower(word)]
}

var abbreviations = set("mr mrs ms dr prof st no vs etc e.g i.e a.m p.m approx dept est inc ltd jr sr fig vol u.s")

// appendTokens cuts a sentence into tokens.
func appendTokens(dst []token, text string) []token {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r):
			i += size
		case isHan(r):
			end := i
			for end < len(text) {
				r, n := utf8.DecodeRuneInString(text[end:])
				if !isHan(r) && (r != '·' || !beforeHan(text[end+n:])) { // the parts of a foreign name
					break
				}
				end += n
			}
			dst = append(dst, token{text: text[i:end], begin: i, end: end, class: classHan})
			i = end
		case !attaches(r):
			dst = append(dst, token{text: text[i : i+size], begin: i, end: i + size, class: classPunct})
			i += size
		default:
			end := i
			for end < len(text) {
				r, n := utf8.DecodeRuneInString(text[end:])
				if !attaches(r) || text[end] == '-' && strings.HasPrefix(text[end:], "--") && end > i {
					break
				}
				end += n
			}
			dst = appendChunk(dst, text, i, end)
			i = end
		}
	}
	return dst
}

// isHan reports whether words of a script are written without spaces.
func isHan(r rune) bool {
	return r >= 0x2E80 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー' || r == '・')
}

func beforeHan(s string) bool { return isHan(first(s)) }

// attaches reports whether a character can be inside a word, a number, a path or a link.
func attaches(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && !strings.ContainsRune("\"`()[]{}<>|;\x7f", r)
	}
	return r != utf8.RuneError && !isHan(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '’' || r == '–' || unicode.Is(unicode.Sc, r) || r == '°')
}

// appendChunk appends what is between two spaces: the token, and the signs before and behind it.
func appendChunk(dst []token, text string, begin, end int) []token {
	from, to := begin, end
	for from < to && strings.IndexByte("'*,!?:=&^\\", text[from]) >= 0 {
		from++
	}
	for {
		cut := strings.TrimRight(text[from:to], ".,:!?'*=&^\\-_~/")
		cut = strings.TrimSuffix(strings.TrimSuffix(cut, "’"), "–")
		if cut == "" || from+len(cut) == to {
			break
		}
		if strings.HasPrefix(text[from+len(cut):to], "/") && strings.Contains(cut, "/") { // a folder
			cut = text[from : from+len(cut)+1]
			to = from + len(cut)
			break
		}
		to = from + len(cut)
	}
	if strings.Trim(text[from:to], ".,:!?'*=&^\\-_~/’–#@+%$") == "" { // signs alone
		return append(dst, token{text: text[begin:end], begin: begin, end: end, class: classPunct})
	}
	if from > begin {
		dst = append(dst, token{text: text[begin:from], begin: begin, end: from, class: classPunct})
	}
	word := text[from:to]
	// "key=value" and "one,two" are two tokens, unless they are a link or a number.
	if at := splitAt(word); at > 0 {
		dst = append(dst, newToken(text, from, from+at), token{text: text[from+at : from+at+1], begin: from + at, end: from + at + 1, class: classPunct})
		dst = appendChunk(dst, text, from+at+1, to)
	} else {
		dst = append(dst, newToken(text, from, to))
	}
	if to < end {
		dst = append(dst, token{text: text[to:end], begin: to, end: end, class: classPunct})
	}
	return dst
}

func splitAt(word string) int {
	if len(word) > 4*maxToken || strings.Contains(word, "://") {
		return 0
	}
	at := strings.IndexAny(word, "=,")
	if at <= 0 || at == len(word)-1 {
		return 0
	}
	if word[at] == ',' && isDigit(word[at-1]) && isDigit(word[at+1]) {
		return 0
	}
	return at
}

func newToken(text string, begin, end int) token {
	t := token{text: text[begin:end], begin: begin, end: end}
	t.class = classOf(t.text)
	if t.class == classWord {
		t.lower = strings.ToLower(strings.ReplaceAll(t.text, "’", "'"))
	}
	return t
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

func set(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}
