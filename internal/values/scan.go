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

// classOf returns what a word looks like.
func classOf(w string) class {
	if len(w) > maxToken {
		if strings.Contains(w, "://") {
			return classLink
		}
		return classPunct
	}
	digits, uppers, lowers, others, inside := 0, 0, 0, 0, 0
	humps := 0
	for i := range len(w) {
		switch b := w[i]; {
		case isDigit(b):
			digits++
		case isUpper(b):
			uppers++
			if i > 0 && isLower(w[i-1]) {
				humps++
			}
		case isLower(b):
			lowers++
		case b >= utf8.RuneSelf:
			others++
		default:
			inside++
		}
	}
	switch {
	case strings.HasPrefix(w, "##"): // a heading, or a mark such as ###STOP###
		return classPunct
	case isLink(w):
		return classLink
	case digits > 0 && isDate(w):
		return classDate
	case digits > 0 && isTime(w):
		return classTime
	case digits > 0 && isMoney(w):
		return classMoney
	case digits > 0 && isNumber(w):
		return classNumber
	case isPath(w):
		return classPath
	case digits > 0 && uppers+lowers > 0:
		return classID
	case strings.Contains(w, "_") && uppers+lowers > 2, strings.Contains(w, "::") && inside == 2:
		return classID
	case humps > 0 && lowers > 1 && inside == 0 && !strings.HasPrefix(w, "Mc") && !strings.HasPrefix(w, "Mac") && !chatter[strings.ToLower(w)]:
		return classID
	case uppers >= 2 && lowers == 0 && others == 0 && digits == 0 && len(w) <= 12 && !chatter[strings.ToLower(w)]:
		return classID
	case digits > 0:
		return classNumber // such as +49-30/1234
	case w[0] == '#' && len(w) > 2, w[0] == '@' && len(w) > 2, strings.HasPrefix(w, "--") && len(w) > 3:
		return classID
	}
	return classWord
}

// chatter are words that people write in capitals though they name nothing.
var chatter = set("ok lol omg btw fyi asap ai tv usa uk am pm i a and the not no yes so very really all must never always imo wow diy faq " +
	"warning error info note todo done failed passed true false null none id ids url api json html css js sql xml http https get post put " +
	"delete ui ip utc cli sdk os cpu dob eta mmhg when where who what why how")

func isLink(w string) bool {
	if at := strings.Index(w, "://"); at > 1 {
		return len(w) > at+4
	}
	if strings.HasPrefix(w, "www.") && len(w) > 8 {
		return true
	}
	at := strings.IndexByte(w, '@')
	return at > 0 && strings.LastIndexByte(w, '.') > at+1 && strings.Count(w, "@") == 1 && !strings.Contains(w, "/")
}

// isPath reports whether a word is the path or the name of a file. "and/or" and "24/7" are not.
func isPath(w string) bool {
	slashes := strings.Count(w, "/") + strings.Count(w, `\`)
	ext := extension(w)
	switch {
	case len(w) < 4:
		return false
	case strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../") || strings.HasPrefix(w, "~/"):
		return true
	case w[0] == '/' && (slashes > 1 || len(w) > 4):
		return true
	case len(w) > 3 && w[1] == ':' && w[2] == '\\':
		return true
	case slashes >= 2 && strings.ContainsAny(w, "._-"), slashes >= 1 && ext != "":
		return true
	}
	return ext != "" && knownExtension[ext]
}

func extension(w string) string {
	if at := strings.LastIndexByte(w, ':'); at > 1 && len(w) > at+1 && isDigit(w[at+1]) { // main.go:17
		w = w[:at]
	}
	at := strings.LastIndexByte(w, '.')
	if at < 1 || at+1 == len(w) || len(w)-at > 9 {
		return ""
	}
	for _, r := range w[at+1:] {
		if r >= utf8.RuneSelf || !isLower(byte(r)) && !isDigit(byte(r)) {
			return ""
		}
	}
	return w[at+1:]
}

var knownExtension = set("go mod sum py js ts tsx jsx mjs java kt rs c h cc cpp hpp cs rb php swift scala sh bash zsh ps1 sql md rst txt log csv tsv " +
	"json jsonl yaml yml toml ini cfg conf env xml html htm css scss less vue svelte proto lock pdf doc docx xls xlsx ppt pptx odt png jpg jpeg gif svg webp " +
	"mp3 mp4 mov wav zip tar gz tgz 7z exe dll so bin db sqlite parquet ipynb dart lua pl r tf gradle cmake ics eml")

// isTime reports whether a word is a time of day: 7:30, 7:30am, 7pm, 19h30.
func isTime(w string) bool {
	l := strings.ToLower(w)
	for _, half := range []string{"am", "pm", "a.m", "p.m", "h"} {
		if cut, found := strings.CutSuffix(l, half); found {
			l = cut
			if isDigits(l) && len(l) <= 2 {
				return half != "h"
			}
			break
		}
	}
	first, rest, found := strings.Cut(l, ":")
	if !found {
		first, rest, found = strings.Cut(l, "-")
		return found && len(first) <= 2 && isDigits(first) && (strings.HasSuffix(l, "am") || strings.HasSuffix(l, "pm")) && isDigits(strings.TrimRight(rest, "apm"))
	}
	if len(first) > 2 || !isDigits(first) {
		return false
	}
	from, to, isRange := strings.Cut(strings.ReplaceAll(rest, "–", "-"), "-")
	if isRange && !isTime(to) && !isDigits(to) {
		return false
	}
	min, sec, _ := strings.Cut(from, ":")
	return len(min) == 2 && isDigits(min) && (sec == "" || isDigits(strings.ReplaceAll(sec, ".", "")))
}

func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// isDate reports whether a word is a date in digits: 2026-03-02, 2026-03-02T10:00Z, 3/14/2026, 14.03.2026.
func isDate(w string) bool {
	if at := strings.IndexAny(w, "T"); at == 10 {
		w = w[:at]
	}
	for _, sep := range []string{"-", "/", "."} {
		p := strings.Split(w, sep)
		if len(p) == 3 && isDigits(p[0]) && isDigits(p[1]) && isDigits(p[2]) {
			return len(p[0]) == 4 && len(p[1]) <= 2 && len(p[2]) <= 2 || len(p[0]) <= 2 && len(p[1]) <= 2 && (len(p[2]) == 4 || len(p[2]) == 2 && sep == "/")
		}
	}
	return false
}

func isMoney(w string) bool {
	if !strings.ContainsFunc(w, func(r rune) bool { return unicode.Is(unicode.Sc, r) }) {
		return false
	}
	return isNumber(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Sc, r) {
			return -1
		}
		return r
	}, w))
}

// isNumber reports whether a word is a number: with separators, a sign, a percent sign, a range, an ordinal
// ending or a short unit.
func isNumber(w string) bool {
	w = strings.TrimLeft(w, "+-~#±")
	i := 0
	for i < len(w) && (isDigit(w[i]) || i > 0 && i+1 < len(w) && isDigit(w[i+1]) && strings.IndexByte(",./-x:", w[i]) >= 0 || strings.HasPrefix(w[i:], "–") && i > 0) {
		if strings.HasPrefix(w[i:], "–") {
			i += len("–")
			continue
		}
		i++
	}
	if i == 0 {
		return false
	}
	unit := strings.ToLower(strings.TrimLeft(w[i:], "-"))
	return unit == "" || units[unit] || strings.HasPrefix(w[i:], "-") && onlyLetters(unit)
}

func onlyLetters(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
}

var units = set("% k m b bn mm cm km kg g mg ml l lb lbs oz ft in mi mph kmh hz khz mhz ghz kb mb gb tb kib mib gib w kw kwh v s ms us ns h hr hrs min mins d wk " +
	"yr yrs x st nd rd th °c °f ° px pt am pm + c f usd eur gbp")

func set(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}
