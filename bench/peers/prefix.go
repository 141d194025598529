package main

import "bytes"

// prefix compares a request with the previous one, byte for byte.
func (w *watch) prefix(contents []*content) {
	same := true
	for i, before := range w.last {
		w.seen.before += len(before.json)
		switch {
		case !same:
		case i < len(contents) && bytes.Equal(before.json, contents[i].json):
			w.seen.same += len(before.json)
		case i < len(contents):
			w.seen.same += common(before.json, contents[i].json)
			same = false
		default:
			same = false
		}
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
