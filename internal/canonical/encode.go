package canonical

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// JSON returns the canonical encoding of v: that of [Value](v) with sorted keys, without spaces, and with
// <, > and & as they are. It copies v only once, into the encoding.
func JSON(v any) []byte { return AppendJSON(nil, v) }

// AppendJSON appends [JSON](v) to out.
func AppendJSON(out []byte, v any) []byte {
	e := encoder{out: out, left: MaxValues}
	e.value(v)
	return e.out
}

type encoder struct {
	out  []byte
	path Path
	left int
}

func (e *encoder) value(v any) {
	if e.left--; e.left < 0 {
		e.out = AppendText(e.out, tooMany)
		return
	}
	switch v := Level(v).(type) {
	case nil:
		e.out = append(e.out, "null"...)
	case bool:
		e.out = strconv.AppendBool(e.out, v)
	case float64:
		e.out = AppendNumber(e.out, v)
	case string:
		e.out = AppendText(e.out, v)
	case map[string]any:
		e.object(v)
	case []any:
		e.array(v)
	}
}

func (e *encoder) object(v map[string]any) {
	if problem := e.path.Enter(v); problem != "" {
		e.out = AppendText(e.out, problem)
		return
	}
	defer e.path.Leave()
	e.out = append(e.out, '{')
	for i, key := range sortedKeys(v) {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.out = append(AppendText(e.out, key), ':')
		e.value(v[key])
	}
	e.out = append(e.out, '}')
}

func (e *encoder) array(v []any) {
	if problem := e.path.Enter(v); problem != "" {
		e.out = AppendText(e.out, problem)
		return
	}
	defer e.path.Leave()
	e.out = append(e.out, '[')
	for i, element := range v {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.value(element)
	}
	e.out = append(e.out, ']')
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

// AppendText appends a JSON string as encoding/json writes it without HTML escapes.
func AppendText(out []byte, s string) []byte {
	out = append(out, '"')
	start := 0
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if b >= ' ' && b != '"' && b != '\\' {
				i++
				continue
			}
			out = append(out, s[start:i]...)
			switch b {
			case '"', '\\':
				out = append(out, '\\', b)
			case '\b':
				out = append(out, `\b`...)
			case '\f':
				out = append(out, `\f`...)
			case '\n':
				out = append(out, `\n`...)
			case '\r':
				out = append(out, `\r`...)
			case '\t':
				out = append(out, `\t`...)
			default:
				out = append(out, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, s[start:i]...)
			out = append(out, "\ufffd"...)
		case r == '\u2028' || r == '\u2029':
			out = append(out, s[start:i]...)
			out = append(out, '\\', 'u', '2', '0', '2', hex[r&15])
		default:
			i += size
			continue
		}
		i += size
		start = i
	}
	out = append(out, s[start:]...)
	return append(out, '"')
}
