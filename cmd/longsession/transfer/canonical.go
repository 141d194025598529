package transfer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxExponent is the greatest exponent of a number that is compared by its value. PostgreSQL writes the numbers of JSON
// without exponents, and a longer number than that is compared as it is written.
const maxExponent = 400

// canonical returns the same text for JSON that means the same: keys in order, no spaces, numbers by value. Nothing
// stays nothing.
func canonical(text []byte) ([]byte, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var value any
	if err := decode(text, &value); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	var out bytes.Buffer
	writeCanonical(&out, value)
	return out.Bytes(), nil
}

func writeCanonical(out *bytes.Buffer, value any) {
	switch value := value.(type) {
	case map[string]any:
		out.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				out.WriteByte(',')
			}
			out.WriteString(strconv.Quote(key))
			out.WriteByte(':')
			writeCanonical(out, value[key])
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i, one := range value {
			if i > 0 {
				out.WriteByte(',')
			}
			writeCanonical(out, one)
		}
		out.WriteByte(']')
	case json.Number:
		out.WriteString(canonicalNumber(value.String()))
	case string:
		out.WriteString(strconv.Quote(value))
	default: // nil, true, false
		fmt.Fprint(out, value)
	}
}

func canonicalNumber(text string) string {
	if _, exponent, has := strings.Cut(strings.ToLower(text), "e"); has {
		if n, err := strconv.Atoi(exponent); err != nil || n > maxExponent || n < -maxExponent {
			return text
		}
	}
	if n, ok := new(big.Rat).SetString(text); ok {
		return n.RatString()
	}
	return text
}

// sameJSON reports whether two texts mean the same.
func sameJSON(a, b []byte) bool {
	one, err := canonical(a)
	if err != nil {
		return false
	}
	other, err := canonical(b)
	return err == nil && bytes.Equal(one, other) && (len(a) == 0) == (len(b) == 0)
}

// nul is how JSON writes the character that PostgreSQL does not store.
const nul = `\u0000`

// hasNUL reports whether a string in JSON has the character NUL.
func hasNUL(text []byte) bool {
	found := false
	_ = eachNUL(text, func() { found = true })
	return found
}

// replaceNUL writes U+FFFD for each NUL in the strings of a JSON text.
func replaceNUL(text []byte) []byte { return eachNUL(text, func() {}) }

// eachNUL calls found for each escaped NUL and returns the text with U+FFFD in its place. A backslash that is escaped
// itself escapes nothing.
func eachNUL(text []byte, found func()) []byte {
	if !bytes.Contains(text, []byte(nul)) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		if bytes.HasPrefix(text[i:], []byte(nul)) {
			found()
			out = append(out, `\ufffd`...)
			i += len(nul) - 1
			continue
		}
		out = append(out, text[i], text[i+1])
		i++
	}
	return out
}
