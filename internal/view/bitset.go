package view

import (
	"iter"
	"math/bits"
	"slices"
)

// bitset is a set of positions in a history: one bit each, grown on demand, empty when zero.
type bitset []uint64

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]&(1<<(i&63)) != 0 }

func (b *bitset) add(i int) {
	for i>>6 >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}

func (b *bitset) addAll(positions spans) {
	for i := range positions.all() {
		b.add(int(i))
	}
}

func (b bitset) remove(i int) {
	if b.has(i) {
		b[i>>6] &^= 1 << (i & 63)
	}
}

func (b bitset) empty() bool {
	for _, word := range b {
		if word != 0 {
			return false
		}
	}
	return true
}

// union returns a new set of all positions of two.
func union(a, b bitset) bitset {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, word := range b {
		out[i] |= word
	}
	return out
}

// others yields, ascending, the positions below n that are not in the set.
func (b bitset) others(n int) iter.Seq[int] { return b.othersFrom(0, n) }

// othersFrom yields, ascending, the positions from first to below n that are not in the set.
func (b bitset) othersFrom(first, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := first &^ 63; from < n; from += 64 {
			word := ^uint64(0)
			if from>>6 < len(b) {
				word &^= b[from>>6]
			}
			if from < first {
				word &^= 1<<(first&63) - 1
			}
			for ; word != 0; word &= word - 1 {
				i := from + bits.TrailingZeros64(word)
				if i >= n || !yield(i) {
					return
				}
			}
		}
	}
}

// minus yields, ascending, the positions that are in b and not in other.
func (b bitset) minus(other bitset) iter.Seq[int] {
	return func(yield func(int) bool) {
		for k, word := range b {
			if k < len(other) {
				word &^= other[k]
			}
			for ; word != 0; word &= word - 1 {
				if !yield(k<<6 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
