package toolresult

import (
	"bytes"
	"fmt"
	"slices"
)

// lineBlock is how far apart, in bytes, a lineIndex remembers the line: 100 MB take 1,600 entries.
const lineBlock = 64 << 10

// lineIndex finds lines in a text without reading it from its start.
type lineIndex struct {
	before []int64 // line breaks before each block of lineBlock bytes
	breaks int64
	count  int64 // lines; the last may lack its line break
}

// newLineIndex reads all of t.
func newLineIndex(t resultText) (*lineIndex, error) {
	ix := &lineIndex{before: make([]int64, 0, t.size/lineBlock+1)}
	var buf []byte
	var last byte
	for offset := int64(0); offset < t.size; offset += int64(len(buf)) {
		var err error
		if buf, err = t.at(buf, offset, offset+16*lineBlock); err != nil {
			return nil, err
		}
		for block := range slices.Chunk(buf, lineBlock) {
			ix.before = append(ix.before, ix.breaks)
			ix.breaks += int64(bytes.Count(block, []byte{'\n'}))
		}
		last = buf[len(buf)-1]
	}
	ix.count = ix.breaks
	if t.size > 0 && last != '\n' {
		ix.count++
	}
	return ix, nil
}

// total returns the number of lines, -1 if they are not counted.
func (ix *lineIndex) total() int64 {
	if ix == nil {
		return -1
	}
	return ix.count
}

// lineAt returns the number of the line, from 1, that offset is in.
func (ix *lineIndex) lineAt(t resultText, offset int64) (int64, error) {
	if len(ix.before) == 0 {
		return 1, nil
	}
	block := min(offset/lineBlock, int64(len(ix.before)-1))
	buf, err := t.at(nil, block*lineBlock, offset)
	if err != nil {
		return 0, err
	}
	return 1 + ix.before[block] + int64(bytes.Count(buf, []byte{'\n'})), nil
}

// start returns the offset of a line; that of the line behind the last is the text's size.
func (ix *lineIndex) start(t resultText, line int64) (int64, error) {
	if line <= 1 {
		return 0, nil
	}
	nth := line - 1 // the line begins behind this line break
	if nth > ix.breaks {
		return t.size, nil
	}
	after, _ := slices.BinarySearch(ix.before, nth) // the first block with so many breaks before it
	block := int64(after - 1)
	buf, err := t.at(nil, block*lineBlock, (block+1)*lineBlock)
	if err != nil {
		return 0, err
	}
	at := 0
	for n := nth - ix.before[block]; n > 0; n-- {
		at += bytes.IndexByte(buf[at:], '\n') + 1
	}
	return block*lineBlock + int64(at), nil
}

// bounds returns the offsets of a range of lines.
func (ix *lineIndex) bounds(t resultText, r lineRange) (from, to int64, err error) {
	first, last := r.first, r.last
	if r.tail > 0 {
		first = max(1, ix.count-r.tail+1)
	}
	if first > max(1, ix.count) {
		return 0, 0, argumentError(fmt.Sprintf("There is no line %d: the result has %d lines.", first, ix.count))
	}
	if from, err = ix.start(t, first); err != nil {
		return 0, 0, err
	}
	if last == 0 || last >= ix.count {
		return from, t.size, nil
	}
	to, err = ix.start(t, last+1)
	return from, to, err
}
