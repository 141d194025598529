package tokens

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Limits of the JSON walk. A value that can be sent to a model never reaches them, but a value that
// contains itself does.
const (
	// maxDepth is the number of levels that are read. Deeper values count as null.
	maxDepth = 1000
	// maxValues is the number of values that are read. An object with more counts as maxValues
	// tokens, which exceeds every context window. A partial count would depend on the map's order.
	maxValues = 1 << 20
)

// writeJSON adds the tokens of v as compact JSON without HTML escaping. It walks v instead of
// marshaling it, because a tool result may have megabytes. Every key and string ends in a quote,
// and a quote ends every run, so the sum equals that of the marshaled text whatever the order of
// keys.
func (c *counter) writeJSON(v any) {
	w := jsonWalk{counter: *c, left: maxValues}
	w.value(v, 0)
	if w.left < 0 {
		c.milli += maxValues * 1000
		c.state = 0
		return
	}
	*c = w.counter
}

// writeObject is writeJSON for arguments and responses. Providers treat nil and empty as equal
// there, and storage may turn one into the other.
func (c *counter) writeObject(m map[string]any) {
	if len(m) == 0 {
		c.write("{}")
		return
	}
	c.writeJSON(m)
}

type jsonWalk struct {
	counter
	left int // values that may still be read; negative if there were too many
}

func (w *jsonWalk) value(v any, depth int) {
	if w.left--; w.left < 0 {
		return
	}
	if depth > maxDepth {
		w.write("null")
		return
	}
	var buf [32]byte
	switch v := v.(type) {
	case nil:
		w.write("null")
	case string:
		w.quoted(v)
	case bool:
		if v {
			w.write("true")
		} else {
			w.write("false")
		}
	case float64:
		w.float(v)
	case int:
		w.writeBytes(strconv.AppendInt(buf[:0], int64(v), 10))
	case int64:
		w.writeBytes(strconv.AppendInt(buf[:0], v, 10))
	case map[string]any:
		if v == nil {
			w.write("null")
			return
		}
		writeMap(w, v, depth)
	case map[string]string:
		if v == nil {
			w.write("null")
			return
		}
		writeMap(w, v, depth)
	case []any:
		writeSlice(w, v, depth)
	case []string:
		writeSlice(w, v, depth)
	case []map[string]any:
		writeSlice(w, v, depth)
	default:
		w.marshaled(v)
	}
}

func writeMap[V any](w *jsonWalk, m map[string]V, depth int) {
	w.write("{")
	first := true
	for k, v := range m {
		if w.left < 0 {
			return
		}
		if !first {
			w.write(",")
		}
		first = false
		w.quoted(k)
		w.write(":")
		w.value(v, depth+1)
	}
	w.write("}")
}

func writeSlice[V any](w *jsonWalk, s []V, depth int) {
	if s == nil {
		w.write("null")
		return
	}
	w.write("[")
	for i, v := range s {
		if w.left < 0 {
			return
		}
		if i > 0 {
			w.write(",")
		}
		w.value(v, depth+1)
	}
	w.write("]")
}

// quoted writes s as a JSON string. A tokenizer reads an escape as text: the n of \n joins the
// following word.
func (w *jsonWalk) quoted(s string) {
	w.write(`"`)
	start := 0
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b >= ' ' && b != '"' && b != '\\' {
			continue
		}
		w.write(s[start:i])
		start = i + 1
		switch b {
		case '"':
			w.write(`\"`)
		case '\\':
			w.write(`\\`)
		case '\n':
			w.write(`\n`)
		case '\r':
			w.write(`\r`)
		case '\t':
			w.write(`\t`)
		case '\b':
			w.write(`\b`)
		case '\f':
			w.write(`\f`)
		default:
			const hex = "0123456789abcdef"
			w.write(`\u00`)
			w.write(hex[b>>4 : b>>4+1])
			w.write(hex[b&15 : b&15+1])
		}
	}
	w.write(s[start:])
	w.write(`"`)
}

// float writes f like encoding/json. NaN and the infinities, which encoding/json rejects, count as
// null.
func (w *jsonWalk) float(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.write("null")
		return
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], f, format, -1, 64)
	if format == 'e' {
		text = bytes.Replace(text, []byte("e-0"), []byte("e-"), 1)
	}
	w.writeBytes(text)
}

// marshaled writes a value of any other type, such as a struct. A value that cannot be marshaled (a
// channel, a cycle) cannot be sent either, so it counts as null.
func (w *jsonWalk) marshaled(v any) {
	var buf strings.Builder
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		w.write("null")
		return
	}
	w.write(strings.TrimSuffix(buf.String(), "\n"))
}

func (c *counter) writeBytes(b []byte) { c.write(string(b)) }

// OfObject returns the approximate number of tokens of the arguments of a call or of a response: of m as
// compact JSON. It is what [OfPart] counts for them, without the name of the function.
func OfObject(m map[string]any) int {
	var c counter
	c.writeObject(m)
	return c.tokens(true)
}
