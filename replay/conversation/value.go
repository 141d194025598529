package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// value is a part of a line that is known to be valid JSON. It keeps its offset in the line, so
// that every error has a column. encoding/json loses the offset of values that are decoded one by
// one.
type value struct {
	json []byte // without space around it; empty for a missing field
	at   int    // its offset in the line, in bytes
}

// parse checks that a whole line is valid JSON.
func parse(line []byte) (value, error) {
	if !json.Valid(line) {
		return value{}, syntaxError(line)
	}
	return trimmed(line, 0), nil
}

// syntaxError returns the error for the place at which a line stops being JSON.
func syntaxError(line []byte) error {
	var into json.RawMessage
	err := json.Unmarshal(line, &into)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return errorAt(0, "%v; expected JSON", err)
	}
	column := int(syntax.Offset)
	if strings.Contains(syntax.Error(), "unexpected end") {
		return errorAt(column+1, "%v; expected a whole conversation or event on one line (jq -c . makes one line of it)", syntax)
	}
	return errorAt(column, "%v; expected JSON", syntax)
}

func trimmed(text []byte, at int) value {
	left := bytes.TrimLeft(text, " \t\r\n")
	return value{json: bytes.TrimRight(left, " \t\r\n"), at: at + len(text) - len(left)}
}

// missing reports whether there is no value, or null: recordings use both for "none".
func (v value) missing() bool { return len(v.json) == 0 || v.json[0] == 'n' }

func (v value) is(first byte) bool { return len(v.json) > 0 && v.json[0] == first }

// kind is the type of the value, in words for errors.
func (v value) kind() string {
	if len(v.json) == 0 {
		return "nothing"
	}
	switch v.json[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return string(v.json)
	case 'n':
		return "null"
	}
	return "a number"
}

func (v value) fail(format string, args ...any) *Error { return errorAt(v.at+1, format, args...) }

// want returns the error for a value of the wrong type.
func (v value) want(name, expected string) *Error {
	return v.fail("%s is %s; expected %s", name, v.kind(), expected)
}

// text returns a string, "" if it is missing.
func (v value) text(name string) (string, error) {
	if v.missing() {
		return "", nil
	}
	if !v.is('"') {
		return "", v.want(name, "a string")
	}
	return unquote(v.json), nil
}

// unquote decodes a valid JSON string. Bytes that are not UTF-8 become U+FFFD.
func unquote(quoted []byte) string {
	inside := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside)
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return string(inside) // unreachable: the line is valid
	}
	return s
}

// number returns a number, 0 if it is missing.
func (v value) number(name string) (float64, error) {
	if v.missing() {
		return 0, nil
	}
	var n float64
	if v.kind() != "a number" || json.Unmarshal(v.json, &n) != nil {
		return 0, v.want(name, "a number below 1e308")
	}
	return n, nil
}

// count converts a number of tokens or an index to an integer from 0 to the largest int32.
func count(n float64) int {
	return int(max(0, min(n, math.MaxInt32)))
}

// truth reports whether a value is true. Missing values and values of other types are not.
func (v value) truth() bool { return v.is('t') }

// mapping decodes an object whose field names are data and stay unchanged. It returns nil if the
// value is missing.
func (v value) mapping(name string) (map[string]any, error) {
	if !v.missing() && !v.is('{') {
		return nil, v.want(name, "an object")
	}
	var out map[string]any
	err := v.into(name, &out)
	return out, err
}

// into decodes a value with encoding/json.
func (v value) into(name string, target any) error {
	if v.missing() {
		return nil
	}
	if err := json.Unmarshal(v.json, target); err != nil {
		return v.fail("%s cannot be read (%v); expected what the Gemini API writes", name, err)
	}
	return nil
}

// list returns the elements of a list, none if it is missing.
func (v value) list(name string) ([]value, error) {
	if v.missing() {
		return nil, nil
	}
	if !v.is('[') {
		return nil, v.want(name, "a list")
	}
	var out []value
	for s := (scanner{json: v.json, i: 1}); s.more(']'); {
		out = append(out, s.value(v.at))
	}
	return out, nil
}

// object has the fields of a JSON object by their folded names.
type object map[string]value

// object returns the fields of an object, none if it is missing.
func (v value) object(name string) (object, error) {
	if v.missing() {
		return nil, nil
	}
	if !v.is('{') {
		return nil, v.want(name, "an object")
	}
	out := object{}
	for s := (scanner{json: v.json, i: 1}); s.more('}'); {
		key := s.value(v.at)
		s.more('}') // skips the colon
		out[fold(unquote(key.json))] = s.value(v.at)
	}
	return out, nil
}

// fold gives the same name to a field as the API, Python and Go write it: functionCall,
// function_call and FunctionCall become functioncall.
func fold(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}

// element is the name of an element of a list in errors: "tool_calls[2]".
func element(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }
