package toolresult

import (
	"encoding/hex"
	"unicode/utf8"
)

// piece is a part of a text.
type piece struct {
	content      string
	offset, next int64
	hex          bool
}

// readPiece returns up to limit bytes of t from offset on, and none from end on. It begins and ends at
// rune boundaries: an offset inside a rune moves back to its start. As JSON the content has at most
// most bytes. Unless offset is at or past end, the piece has at least one rune.
func readPiece(t resultText, offset, end int64, limit, most int) (piece, error) {
	end = min(end, t.size)
	if offset >= end {
		return piece{offset: end, next: end}, nil
	}
	lo := max(0, offset-(utf8.UTFMax-1))
	buf, err := t.at(nil, lo, min(end, offset+int64(limit)+utf8.UTFMax))
	if err != nil {
		return piece{}, err
	}
	start := runeStart(buf, int(offset-lo))
	stop := min(start+limit, len(buf))
	if stop < len(buf) {
		if back := runeStart(buf, stop); back > start {
			stop = back
		} else {
			_, size := utf8.DecodeRune(buf[start:])
			stop = start + size
		}
	}
	data := buf[start:stop]
	p := piece{offset: lo + int64(start)}
	if valid := validPrefix(data); valid == len(data) || 2*valid >= len(data) {
		p.content = prefixWithin(string(data[:valid]), most)
		p.next = p.offset + int64(len(p.content))
		return p, nil
	}
	stop = start + min(len(data), max(1, limit/2))
	if back := runeStart(buf, stop); back > start {
		stop = back // or the next piece would begin before this one ends
	} else if back < stop {
		_, size := utf8.DecodeRune(buf[start:])
		stop = start + size
	}
	data = buf[start:stop]
	p.content, p.hex = hex.EncodeToString(data), true
	p.next = p.offset + int64(len(data))
	return p, nil
}

// runeStart returns i, or the start of the rune that i is inside of.
func runeStart(b []byte, i int) int {
	if i >= len(b) || utf8.RuneStart(b[i]) {
		return i
	}
	for back := i - 1; back >= 0 && back > i-utf8.UTFMax; back-- {
		if utf8.RuneStart(b[back]) {
			if r, size := utf8.DecodeRune(b[back:]); r != utf8.RuneError && back+size > i {
				return back
			}
			return i
		}
	}
	return i
}

// validPrefix returns the length of the part of b before the first byte that is no UTF-8.
func validPrefix(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}
