package values

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// found is a value of a text.
type found struct {
	kind    string
	core    string // the value itself
	context string // the words before it
	field   string // its name, if it was named by a field
}

func (f *found) text() string {
	if f.context == "" {
		return f.core
	}
	return f.context + " " + f.core
}

// finder finds the values of texts. It is used for one window.
type finder struct {
	out    []found
	cue    bool // the text says that it corrects something
	secret bool // the last sentence announced a secret
	quoted int  // where the last quotation ended
	// fromTool: only identifiers, paths, links and errors.
	fromTool bool
}

// maxFound bounds the values of one text.
const maxFound = 400

// find returns the values of a text. The slice is used again by the next call.
func (f *finder) find(text string, fromTool bool) []found {
	f.out, f.cue, f.secret, f.quoted, f.fromTool = f.out[:0], !fromTool && corrects(text), false, 0, fromTool
	text = withoutCards(withoutKeyBlocks(text))
	eachSentence(text, func(s *sentence) {
		if len(f.out) >= maxFound {
			return
		}
		if strings.TrimSpace(s.text) == LeftOut { // what it stands for is gone
			f.secret = false
			return
		}
		near := secretNear(s.text)
		announced := f.secret
		f.secret = near && endsOpen(s.text)
		if near || announced {
			if strings.TrimSpace(s.text) == "" {
				f.secret = announced
			}
			return
		}
		if !fromTool {
			f.quotes(text, s)
		} else if isFailure(s.text) {
			f.add(kindFailure, "", clip(strings.TrimSpace(s.text), 100))
		}
		f.sentence(s)
	})
	return f.out
}

// field returns the value of a named field, unless it is a secret. The slice is used again by the next call.
func (f *finder) field(kind, name, core string) []found {
	f.out, f.cue = f.out[:0], false
	f.add(kind, name, core)
	if len(f.out) > 0 {
		f.out[0].field = name
	}
	return f.out
}

// endsOpen reports whether a sentence goes on in the next one: "My password is:".
func endsOpen(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || strings.HasSuffix(s, "=") || strings.HasSuffix(s, " is") || len(s) < 40
}

func (f *finder) add(kind, context, core string) {
	core = strings.TrimSpace(core)
	if core == "" || len(core) > 4*maxToken || !utf8.ValidString(core) || len(f.out) >= maxFound {
		return
	}
	for word := range strings.FieldsSeq(core) {
		if isSecret(word) {
			return
		}
	}
	if isCard(core) {
		return
	}
	if f.cue {
		kind += markCue
	}
	f.out = append(f.out, found{kind: kind, core: core, context: context})
}

// quoteEnds are the closing signs of quotations.
var quoteEnds = map[rune]rune{'“': '”', '«': '»', '„': '“', '《': '》', '「': '」', '『': '』', '"': '"', '`': '`', '‘': '’', '\'': '\''}

// quotes adds the quoted words that begin in a sentence.
func (f *finder) quotes(text string, s *sentence) {
	for i, r := range s.text {
		closing, found := quoteEnds[r]
		at := s.begin + i
		if !found || at < f.quoted {
			continue
		}
		if (r == '"' || r == '`' || r == '\'' || r == '‘') && at > 0 {
			if before, _ := utf8.DecodeLastRuneInString(text[:at]); unicode.IsLetter(before) && !isHan(before) || unicode.IsDigit(before) {
				continue
			}
		}
		rest := text[at+utf8.RuneLen(r):]
		limit := min(len(rest), 160)
		end := strings.IndexRune(rest[:limit], closing)
		for r == '\'' || r == '‘' { // an apostrophe does not end it
			if end < 0 {
				break
			}
			after, _ := utf8.DecodeRuneInString(rest[min(len(rest), end+utf8.RuneLen(closing)):])
			if !unicode.IsLetter(after) || after == utf8.RuneError {
				break
			}
			next := strings.IndexRune(rest[end+utf8.RuneLen(closing):limit], closing)
			if next < 0 {
				end = -1
				break
			}
			end += utf8.RuneLen(closing) + next
		}
		if end <= 0 {
			continue
		}
		inner := rest[:end]
		if strings.ContainsAny(inner, "\n\r") {
			continue
		}
		f.quoted = at + utf8.RuneLen(r) + end + utf8.RuneLen(closing)
		core := strings.TrimSpace(inner)
		if r != '`' {
			core = strings.TrimRight(core, ".,;:!?，。！？")
		}
		words := len(strings.Fields(core))
		if r == '\'' || r == '‘' {
			if words > 6 || core == "" || !unicode.IsUpper(first(core)) {
				continue
			}
		}
		if words <= 10 && utf8.RuneCountInString(core) <= 60 && utf8.RuneCountInString(core) > 1 && !chatter[strings.ToLower(core)] && !secretNear(core) {
			f.add(kindQuote, "", core)
		}
	}
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// sentence adds the values of a sentence.
func (f *finder) sentence(s *sentence) {
	t := s.tokens
	before := len(f.out)
	for i := 0; i < len(t); i++ {
		if len(f.out) >= maxFound {
			return
		}
		switch t[i].class {
		case classLink:
			f.add(kindLink, "", t[i].text)
		case classPath:
			if i == 0 || !strings.HasSuffix(t[i-1].text, "<") { // </tag>
				f.add(kindPath, "", t[i].text)
			}
		case classID:
			if n := f.name(t, i); n > 1 {
				i += n - 1
				continue
			}
			f.add(f.is(kindID, t, i), f.idContext(t, i), t[i].text)
		case classDate, classTime:
			if f.fromTool {
				continue
			}
			from, to := dateAround(t, i)
			f.addRange(f.is(kindDate, t, from), s, t, from, to)
			i = max(i, to-1)
		case classMoney:
			if f.fromTool {
				continue
			}
			to := i + 1
			if to < len(t) && scales[t[to].lower] {
				to++
			}
			f.addRange(f.is(kindMoney, t, i), s, t, i, to)
			i = to - 1
		case classNumber:
			i = f.number(s, i)
		case classHan:
			if !f.fromTool {
				f.han(t, i)
			}
		case classWord:
			if f.fromTool {
				continue
			}
			i = f.word(s, i)
		}
	}
	if !f.fromTool {
		f.own(s, f.out[before:])
	}
}

// is returns a kind, marked if a word such as "is" is before the value.
func (f *finder) is(kind string, t []token, at int) string {
	for i := at - 1; i >= 0 && i >= at-3; i-- {
		switch {
		case isWords[t[i].lower], t[i].class == classPunct && (strings.ContainsAny(t[i].text, ":=：")):
			return kind + markIs
		case t[i].class != classWord || !stop[t[i].lower]:
			return kind
		}
	}
	return kind
}

var (
	isWords = set("is are was were be becomes equals now to")
	isVerbs = set("is are was were be now actually")
)

var scales = set("thousand million billion trillion k m b bn dollars euros pounds yen yuan usd eur gbp per")

// isFailure reports whether a line of a tool's answer is an error.
func isFailure(line string) bool {
	l := strings.ToLower(clip(strings.TrimSpace(line), 120))
	for _, w := range []string{"error:", "error ", "fatal:", "panic:", "exception:", "traceback", "failed:", "fail:", "--- fail", "cannot ", "permission denied", "no such file"} {
		if strings.HasPrefix(l, w) || strings.Contains(l, w) && strings.HasSuffix(w, ":") {
			return true
		}
	}
	return false
}

// clip returns the beginning of a text, in whole characters and at most n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clipWords returns the beginning of a text, in whole words if it has several: a part of a number is another number.
func clipWords(s string, n int) string {
	short := clip(s, n)
	if len(short) == len(s) {
		return s
	}
	if at := strings.LastIndexFunc(short, unicode.IsSpace); at >= len(short)-maxToken {
		return short[:max(0, at)]
	}
	return short
}
