package main

import "bytes"

// prefix compares a request with the previous one, byte for byte. instruction is the size of the system
// instruction in tokens.
func (w *watch) prefix(contents []*content, instruction int) {
	same := true
	if w.seen.requests > 1 {
		w.seen.cached += instruction
	}
	for i, before := range w.last {
		w.seen.before += len(before.json)
		switch {
		case !same:
		case i < len(contents) && bytes.Equal(before.json, contents[i].json):
			w.seen.same += len(before.json)
			w.seen.cached += before.tokens
		case i < len(contents):
			w.seen.same += common(before.json, contents[i].json)
			same = false
		default:
			same = false
		}
	}
	if !same {
		w.seen.breaks++
	}
	w.last = contents
}

func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
