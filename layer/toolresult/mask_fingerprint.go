package toolresult

import (
	"hash/maphash"
	"math"
)

// fingerprinter computes fast 64-bit hashes of values. Equal values have equal fingerprints within one
// process. Fingerprints never leave the process: references are computed with [store.ResultOf].
type fingerprinter struct{ seed maphash.Seed }

// The kinds of values, so that for example "1" and 1 have different fingerprints.
const (
	kindNil uint64 = iota + 1
	kindBool
	kindNumber
	kindText
	kindList
	kindObject
	kindNamed
	kindCall
)

// maxFingerprintDepth is the number of nested values that are read. Deeper values, among them those
// that contain themselves, have no fingerprint.
const maxFingerprintDepth = 32

// text returns the fingerprint of a text.
func (f fingerprinter) text(s string) uint64 { return mix(kindText, maphash.String(f.seed, s)) }

// named returns the fingerprint of a call or response: of a name and an object. known is false if the
// object holds a value of a type that JSON does not bring back.
func (f fingerprinter) named(name string, object map[string]any) (sum uint64, known bool) {
	sum, known = f.object(object, 0)
	return mix(mix(kindNamed, f.text(name)), sum), known
}

func (f fingerprinter) object(object map[string]any, depth int) (sum uint64, known bool) {
	for key, value := range object {
		v, known := f.value(value, depth+1)
		if !known {
			return 0, false
		}
		sum += mix(f.text(key), v) // a sum does not depend on the order of keys
	}
	return mix(mix(kindObject, uint64(len(object))), sum), true
}

func (f fingerprinter) value(v any, depth int) (sum uint64, known bool) {
	if depth > maxFingerprintDepth {
		return 0, false
	}
	switch v := v.(type) {
	case nil:
		return mix(kindNil, 0), true
	case string:
		return f.text(v), true
	case bool:
		if v {
			return mix(kindBool, 1), true
		}
		return mix(kindBool, 0), true
	case float64:
		return mix(kindNumber, math.Float64bits(v)), true
	case int:
		return mix(kindNumber, math.Float64bits(float64(v))), true
	case int64:
		return mix(kindNumber, math.Float64bits(float64(v))), true
	case map[string]any:
		return f.object(v, depth)
	case []any:
		sum := mix(kindList, uint64(len(v)))
		for _, element := range v {
			e, known := f.value(element, depth+1)
			if !known {
				return 0, false
			}
			sum = mix(sum, e)
		}
		return sum, true
	}
	return 0, false
}

// mix combines two numbers so that every bit of both changes the result. The order matters.
func mix(a, b uint64) uint64 {
	// The finalizer of MurmurHash3.
	x := a*0x9e3779b97f4a7c15 + b
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
