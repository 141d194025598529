package view

import (
	"hash/maphash"
	"slices"

	"github.com/adk-go-ext/longsession/record"
)

// keySet is a set of 32-bit hashes, in four bytes each. Two keys may have one hash, so has may report
// true for a key that was never added. A keySet is immutable: with returns a new one that shares most
// of its memory with the old one.
//
// The slices are sorted, and each is more than twice as long as the next, so there are few of them.
type keySet [][]uint32

// with returns the set with more keys. It sorts them in place.
func (s keySet) with(keys []uint32) keySet {
	if len(keys) == 0 {
		return s
	}
	slices.Sort(keys)
	n := len(s)
	for n > 0 && len(s[n-1]) <= 2*len(keys) {
		n--
		keys = merge(s[n], keys)
	}
	return append(slices.Clip(s[:n]), keys)
}

func (s keySet) has(key uint32) bool {
	return slices.ContainsFunc(s, func(sorted []uint32) bool {
		_, found := slices.BinarySearch(sorted, key)
		return found
	})
}

// merge returns the keys of two sorted slices in one.
func merge(a, b []uint32) []uint32 {
	out := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] > b[0] {
			a, b = b, a
		}
		out, a = append(out, a[0]), a[1:]
	}
	return append(append(out, a...), b...)
}

var seed = maphash.MakeSeed()

func hashID(id string) uint32 { return uint32(maphash.String(seed, id)) }

func hashAltKey(key record.AltKey) uint32 { return uint32(maphash.Comparable(seed, key)) }
