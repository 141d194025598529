package toolresult

import "unicode/utf8"

// Sizes of bytes in a JSON string. encoding/json, by which ADK and genai write requests and rows, escapes <,
// > and & too.
const (
	shortEscape = 2 // \n, \", \\
	longEscape  = 6 // \u0000
)

// asciiSize has the size of each byte below 0x80 in encoding/json's strings.
var asciiSize = buildASCIISizes()

func buildASCIISizes() (t [utf8.RuneSelf]uint8) {
	for b := range t {
		switch {
		case b == '"', b == '\\', b == '\n', b == '\r', b == '\t', b == '\b', b == '\f':
			t[b] = shortEscape
		case b < ' ', b == '<', b == '>', b == '&':
			t[b] = longEscape
		default:
			t[b] = 1
		}
	}
	return t
}

// runeSize returns the size of the first rune of a text in JSON, and its length in bytes. A byte that is no
// UTF-8 is written as \ufffd. After it was stored it is that rune, so both count the same.
func runeSize(text string) (size, length int) {
	if b := text[0]; b < utf8.RuneSelf {
		return int(asciiSize[b]), 1
	}
	r, length := utf8.DecodeRuneInString(text)
	switch {
	case r == utf8.RuneError, r == '\u2028', r == '\u2029':
		return longEscape, length
	}
	return length, length
}

// plainSize returns the length of the longest beginning of a text whose bytes are as they are in JSON. It
// reads eight bytes at a time.
func plainSize(text string) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := uint64(text[i]) | uint64(text[i+1])<<8 | uint64(text[i+2])<<16 | uint64(text[i+3])<<24 |
			uint64(text[i+4])<<32 | uint64(text[i+5])<<40 | uint64(text[i+6])<<48 | uint64(text[i+7])<<56
		// A byte of these is 0 where w has that byte; < and > differ in one bit.
		quote, backslash, ampersand, angle := w^(ones*'"'), w^(ones*'\\'), w^(ones*'&'), (w|ones*2)^(ones*'>')
		if (w|(w-ones*' ')|(quote-ones)|(backslash-ones)|(ampersand-ones)|(angle-ones))&highs != 0 {
			break
		}
	}
	for ; i < len(text); i++ {
		if b := text[i]; b >= utf8.RuneSelf || asciiSize[b] != 1 {
			return i
		}
	}
	return i
}

// escapedSize returns the size of a text in a JSON string, without the quotes. It reads no further than
// most: a greater size is most+1.
func escapedSize(text string, most int) int {
	size := 0
	for i := 0; i < len(text) && size <= most; {
		n := plainSize(text[i:min(len(text), i+most-size+1)])
		size += n
		if i += n; i < len(text) && size <= most {
			s, n := runeSize(text[i:])
			size += s
			i += n
		}
	}
	return min(size, most+1)
}

// prefixWithin returns the longest beginning of a text, in whole runes, whose escaped size is at most room.
func prefixWithin(text string, room int) string {
	size := 0
	for i := 0; i < len(text); {
		s, n := runeSize(text[i:])
		if size += s; size > room {
			return text[:i]
		}
		i += n
	}
	return text
}

// suffixWithin is prefixWithin for the end of a text.
func suffixWithin(text string, room int) string {
	size := 0
	for end := len(text); end > 0; {
		_, n := utf8.DecodeLastRuneInString(text[:end])
		s, _ := runeSize(text[end-n : end])
		if size += s; size > room {
			return text[end:]
		}
		end -= n
	}
	return text
}

// firstRunes returns the first n runes of a text, or all of it.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// lastRunes returns the last n runes of a text, or all of it.
func lastRunes(text string, n int) string {
	end := len(text)
	for ; n > 0 && end > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:end])
		end -= size
	}
	return text[end:]
}
