package tokens

import "unicode/utf8"

// class is the kind of a rune, as subword tokenizers treat it.
type class uint8

const (
	lower     class      = iota // a-z, and the Latin letters outside ASCII
	upper                       // A-Z
	digit                       // 0-9
	punct                       // ASCII punctuation
	newline                     // \n
	blank                       // any other ASCII white space
	cjk                         // Han, kana, Hangul
	cjkPunct                    // U+3000-303F and the full-width forms
	alphabet                    // Greek, Cyrillic, Arabic, Devanagari, Thai, ...
	other                       // symbols, emoji, box drawing, control characters, invalid UTF-8
	nClasses                    // number of classes
	multibyte = nClasses        // only in asciiClass: decode the rune first
)

// Weights are in thousandths of a token, so that a sum does not depend on the order of its terms. They
// are fitted to counts of o200k and of Gemma 3 at once, except wAlphabet: for each kind of text, the
// larger of the two errors is as small as it can be. For example, "sentence 12" is one word with two
// letters after the sixth, a blank and two digits: 980 + 2*104 + 1352 + 387 = 2927, rounded up to 3
// tokens.
const (
	wWord     = 980 // first letter of a word
	wLongWord = 104 // each letter after the sixth of a word
	wCapitals = 265 // a capital directly after a capital: acronyms and constants are split
	// o200k takes three digits at a time, Gemma 3 one.
	wDigit        = 1352 // the first, fourth, seventh ... digit of a number
	wFurtherDigit = 387  // each other digit
	wPunct        = 937  // first of a run of punctuation
	wFurtherPunct = 98   // each further character: `":"`, `},{` and `-----` are one token
	wNewline      = 1366 // includes the token of the following indentation
	wFurtherBlank = 20   // each white-space character after the first of a run
	wCJK          = 618
	wCJKPunct     = 1057
	wOther        = 1900
	// One sentence each of Russian, Greek, Arabic, Hebrew, Hindi and Thai takes 0.28 to 0.57 Gemma
	// 3 tokens per letter. wOther would overestimate them three to five times, and so compact those
	// sessions far too early.
	wAlphabet = 390

	plainLetters = 6 // letters of a word that wWord covers
)

// state is the estimate's memory of the runes so far: 0 at the start, 1 to 2*plainLetters inside a
// word, then the states below. The third digit of a number leads back to 0.
type state uint8

const (
	afterBlank   state = 2*plainLetters + 1
	afterNewline state = 2*plainLetters + 2
	afterPunct   state = 2*plainLetters + 3
	afterDigit   state = 2*plainLetters + 4 // the first of three digits
	afterDigits  state = 2*plainLetters + 5 // the second
	nStates            = 2*plainLetters + 6
)

// inWord returns the state after the n-th letter of a word. n is at most plainLetters.
func inWord(n int, capital bool) state {
	s := state(2*min(n, plainLetters) - 1)
	if capital {
		s++
	}
	return s
}

// step is one transition: its cost in thousandths of a token, and the next state.
type step struct {
	cost uint16
	next state
}

var (
	asciiClass  = buildASCIIClasses()
	transitions = buildTransitions()
)

// Estimate returns the approximate number of tokens of text, rounded up. It is 0 only for "". It
// reads each byte once and does not allocate. A byte that is not UTF-8 counts as one symbol.
func Estimate(text string) int {
	var c counter
	c.write(text)
	return c.tokens(text != "")
}

// counter sums weights over text that arrives in pieces. Splitting a text between two runes does
// not change its sum.
type counter struct {
	milli int64 // thousandths of a token
	state state
}

// tokens returns the sum in whole tokens, rounded up. It is at least one if there was any text.
func (c *counter) tokens(nonEmpty bool) int {
	n := int((c.milli + 999) / 1000)
	if n == 0 && nonEmpty {
		return 1
	}
	return n
}

func (c *counter) write(s string) {
	milli, st := c.milli, c.state
	for i := 0; i < len(s); {
		k := asciiClass[s[i]]
		if k == multibyte {
			r, size := utf8.DecodeRuneInString(s[i:])
			k = classOf(r)
			i += size
		} else {
			i++
		}
		t := transitions[st][k]
		milli += int64(t.cost)
		st = t.next
	}
	c.milli, c.state = milli, st
}

// classOf returns the class of a rune outside ASCII by its block. The blocks are only as fine as
// the weights need, which is fast.
func classOf(r rune) class {
	switch {
	case r >= 0x4E00 && r <= 0x9FFF, // Han
		r >= 0x3040 && r <= 0x31FF, // kana, Bopomofo, Hangul letters
		r >= 0xAC00 && r <= 0xD7AF, // Hangul syllables
		r >= 0x3400 && r <= 0x4DBF,
		r >= 0x2E80 && r <= 0x2FDF,
		r >= 0xF900 && r <= 0xFAFF,
		r >= 0xFF66 && r <= 0xFF9F, // half-width katakana
		r >= 0x20000 && r <= 0x3FFFF:
		return cjk
	case r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFFEF:
		return cjkPunct
	case r >= 0xC0 && r <= 0x24F && r != '×' && r != '÷', r >= 0x1E00 && r <= 0x1EFF:
		return lower
	case r >= 0x300 && r <= 0x1FFF:
		return alphabet
	}
	return other
}

func buildASCIIClasses() (t [256]class) {
	for b := range t {
		switch {
		case b >= utf8.RuneSelf:
			t[b] = multibyte
		case b >= 'a' && b <= 'z':
			t[b] = lower
		case b >= 'A' && b <= 'Z':
			t[b] = upper
		case b >= '0' && b <= '9':
			t[b] = digit
		case b == '\n':
			t[b] = newline
		case b == ' ', b == '\t', b == '\r', b == '\v', b == '\f':
			t[b] = blank
		case b > ' ' && b < 0x7F:
			t[b] = punct
		default:
			t[b] = other
		}
	}
	return t
}

func buildTransitions() (t [nStates][nClasses]step) {
	for s := range t {
		row := &t[s]
		row[lower] = step{wWord, inWord(1, false)}
		row[upper] = step{wWord, inWord(1, true)}
		row[digit] = step{wDigit, afterDigit}
		row[punct] = step{wPunct, afterPunct}
		row[newline] = step{wNewline, afterNewline}
		// A single blank belongs to the following word.
		row[blank] = step{0, afterBlank}
		row[cjk] = step{wCJK, 0}
		row[cjkPunct] = step{wCJKPunct, 0}
		row[alphabet] = step{wAlphabet, 0}
		row[other] = step{wOther, 0}
	}
	for n := 1; n <= plainLetters; n++ {
		var long uint16
		if n == plainLetters {
			long = wLongWord
		}
		for _, capital := range []bool{false, true} {
			row := &t[inWord(n, capital)]
			row[lower] = step{long, inWord(n+1, false)}
			row[upper] = step{long, inWord(n+1, true)}
			if capital {
				row[upper].cost += wCapitals
			}
		}
	}
	t[afterDigit][digit] = step{wFurtherDigit, afterDigits}
	t[afterDigits][digit] = step{wFurtherDigit, 0}
	t[afterBlank][blank].cost = wFurtherBlank
	t[afterNewline][blank].cost = wFurtherBlank
	t[afterNewline][newline].cost = wFurtherBlank
	t[afterPunct][punct].cost = wFurtherPunct
	return t
}
