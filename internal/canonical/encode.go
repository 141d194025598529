package canonical

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// String returns the canonical encoding of v: the JSON of [Value](v) with sorted keys, without spaces, and
// with <, > and & as they are. It never panics, and copies v only once.
func String(v any) string {
	e := encoder{left: MaxValues}
	s := sizer{left: MaxValues}
	s.add(v)
	e.out.Grow(s.bytes)
	e.value(v)
	return e.out.String()
}

// sizer adds up the approximate size of an encoding, so that its text is not moved while it grows.
type sizer struct {
	path        Path
	bytes, left int
}

func (s *sizer) add(v any) {
	if s.left--; s.left < 0 {
		return
	}
	const around = 4 // quotes, comma, colon
	switch v := v.(type) {
	case string:
		s.bytes += len(v) + len(v)/16 + around
	case map[string]any:
		if problem := s.path.EnterObject(v); problem != "" {
			s.bytes += len(problem) + around
			return
		}
		defer s.path.Leave()
		for key, element := range v {
			s.bytes += len(key) + around
			s.add(element)
		}
	case []any:
		if problem := s.path.EnterList(v); problem != "" {
			s.bytes += len(problem) + around
			return
		}
		defer s.path.Leave()
		for _, element := range v {
			s.add(element)
		}
	default:
		s.bytes += 2 * around
	}
}

type encoder struct {
	out  strings.Builder
	path Path
	left int
	buf  [32]byte // for numbers
}

func (e *encoder) value(v any) {
	if e.left--; e.left < 0 {
		e.text(tooMany)
		return
	}
	switch v := Level(v).(type) {
	case nil:
		e.out.WriteString("null")
	case bool:
		e.out.WriteString(strconv.FormatBool(v))
	case float64:
		e.out.Write(AppendNumber(e.buf[:0], v))
	case string:
		e.text(v)
	case map[string]any:
		e.object(v)
	case []any:
		e.array(v)
	}
}

func (e *encoder) object(v map[string]any) {
	if problem := e.path.EnterObject(v); problem != "" {
		e.text(problem)
		return
	}
	defer e.path.Leave()
	e.out.WriteByte('{')
	for i, key := range sortedKeys(v) {
		if i > 0 {
			e.out.WriteByte(',')
		}
		e.text(key)
		e.out.WriteByte(':')
		e.value(v[key])
	}
	e.out.WriteByte('}')
}

func (e *encoder) array(v []any) {
	if problem := e.path.EnterList(v); problem != "" {
		e.text(problem)
		return
	}
	defer e.path.Leave()
	e.out.WriteByte('[')
	for i, element := range v {
		if i > 0 {
			e.out.WriteByte(',')
		}
		e.value(element)
	}
	e.out.WriteByte(']')
}

// sortedKeys returns the keys in the order of the encoding. Of keys that are equal as UTF-8, it returns
// the first one only.
func sortedKeys(v map[string]any) []string {
	keys := make([]string, 0, len(v))
	valid := true
	for key := range v {
		keys = append(keys, key)
		valid = valid && utf8.ValidString(key)
	}
	slices.Sort(keys)
	if valid {
		return keys
	}
	slices.SortStableFunc(keys, func(a, b string) int { return compareText(Text(a), Text(b)) })
	return slices.CompactFunc(keys, func(a, b string) bool { return Text(a) == Text(b) })
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// AppendNumber appends a finite number as encoding/json writes it.
func AppendNumber(out []byte, f float64) []byte {
	abs := max(f, -f)
	if abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	start := len(out)
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	if n := len(out); n-start >= 4 && out[n-4] == 'e' && out[n-3] == '-' && out[n-2] == '0' {
		out[n-2] = out[n-1] // e-09 is e-9
		out = out[:n-1]
	}
	return out
}

const hex = "0123456789abcdef"

// text writes a JSON string as encoding/json does without HTML escapes.
func (e *encoder) text(s string) {
	e.out.WriteByte('"')
	start := 0
	for i := plain(s); i < len(s); {
		size := 1
		escape := ""
		switch b := s[i]; {
		case b >= utf8.RuneSelf:
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				escape = "\ufffd"
			case r == '\u2028':
				escape = `\u2028`
			case r == '\u2029':
				escape = `\u2029`
			}
		case b < ' ' || b == '"' || b == '\\':
			escape = escapes[b]
		}
		if escape != "" {
			e.out.WriteString(s[start:i])
			e.out.WriteString(escape)
			start = i + size
		}
		i += size
		i += plain(s[i:])
	}
	e.out.WriteString(s[start:])
	e.out.WriteByte('"')
}

// escapes has the escapes of ASCII characters.
var escapes = buildEscapes()

func buildEscapes() (t [utf8.RuneSelf]string) {
	for b := range ' ' {
		t[b] = `\u00` + string(hex[b>>4]) + string(hex[b&15])
	}
	t['"'], t['\\'] = `\"`, `\\`
	t['\b'], t['\f'], t['\n'], t['\r'], t['\t'] = `\b`, `\f`, `\n`, `\r`, `\t`
	return t
}

// plain returns the length of the longest beginning of s that is ASCII and needs no escape. It reads eight
// bytes at a time.
func plain(s string) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, backslash := w^(ones*'"'), w^(ones*'\\')
		if (w|(w-ones*' ')|(quote-ones)|(backslash-ones))&highs != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if b := s[i]; b < ' ' || b == '"' || b == '\\' || b >= utf8.RuneSelf {
			return i
		}
	}
	return i
}
