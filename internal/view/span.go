package view

import "iter"

// span is a stretch of positions in a history, the end not included. The events of a window lie next
// to each other, or nearly so, so a record's are kept in a few of these rather than one by one.
type span struct{ from, to int32 }

type spans []span

func (s *spans) add(i int32) {
	if n := len(*s); n > 0 && (*s)[n-1].to == i {
		(*s)[n-1].to++
		return
	}
	*s = append(*s, span{i, i + 1})
}

// all yields the positions in the order in which they were added.
func (s spans) all() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, part := range s {
			for i := part.from; i < part.to; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

func (s spans) len() int {
	n := 0
	for _, part := range s {
		n += int(part.to - part.from)
	}
	return n
}
