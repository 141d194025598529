package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Token is a key or a value in a JSON text.
type Token struct {
	// From and To are its offsets, without quotes. A null is empty.
	From, To int
	Key      bool
	// Path is its path, such as "Content.parts[0].text".
	Path string

	text   string // of a string, without escapes; empty for other values
	quoted bool
	object int // number of the object of a key
}

// Said returns the text of a key or a string, without the escapes of JSON. It is empty for other
// values.
func (t Token) Said() string { return t.text }

// Tokens returns the keys and values of a JSON text, in order.
func Tokens(text string) ([]Token, error) {
	type level struct {
		path   string
		key    string
		list   bool
		number int // of elements so far, or of the object
		value  bool
	}
	var out []Token
	stack := []level{{list: true, number: -1}}
	objects := 0
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for end := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && len(stack) == 1 {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		from := end + len(text[end:]) - len(strings.TrimLeft(text[end:], " \t\r\n,:"))
		end = int(d.InputOffset())
		top := &stack[len(stack)-1]
		path, key := top.path, !top.list && !top.value
		delim, _ := token.(json.Delim)
		switch {
		case delim == '}' || delim == ']':
			stack = stack[:len(stack)-1]
			continue
		case key:
			top.key, top.value = token.(string), true
			path = joinPath(path, "."+top.key)
		case top.list:
			if top.number++; len(stack) > 1 {
				path = joinPath(path, fmt.Sprintf("[%d]", top.number-1))
			}
		default:
			path, top.value = joinPath(path, "."+top.key), false
		}
		switch {
		case delim == '{':
			objects++
			stack = append(stack, level{path: path, number: objects})
			continue
		case delim == '[':
			stack = append(stack, level{path: path, list: true})
			continue
		}
		t := Token{From: from, To: end, Key: key, Path: path, object: top.number}
		if s, is := token.(string); is {
			t.From, t.To, t.text, t.quoted = from+1, end-1, s, true
		} else if token == nil {
			t.To = from
		}
		out = append(out, t)
	}
}

// longest bounds the length of a path: one through ten thousand lists would be long.
const longest = 200

func joinPath(path, step string) string {
	if len(path) > longest {
		return path
	}
	return strings.TrimPrefix(path+step, ".")
}

// compact returns a JSON object, list or string on one line without spaces. It returns "" for any
// other text.
func compact(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || !strings.ContainsRune(`{["`, rune(text[0])) {
		return ""
	}
	var line bytes.Buffer
	if json.Compact(&line, []byte(text)) != nil {
		return ""
	}
	return line.String()
}

// JSON returns a JSON text without matches, as JSON. It redacts every key and value by itself. If a
// match spans several, such as a key and its value, each of them becomes [Mark] as a whole. A
// number or a bool becomes a string. Keys that become equal are numbered:
//
//	{"sk-1":1,"sk-2":2} becomes {"[redacted]":1,"[redacted] 2":2}
func (r *Redactor) JSON(text string) string {
	for range rounds {
		tokens, err := Tokens(text)
		spans := r.Spans(text)
		if err != nil {
			return string(marshal(Mark))
		}
		redacted := r.tokens(text, tokens, spans)
		if redacted == text {
			return text
		}
		text = redacted
	}
	return string(marshal(Mark))
}

func (r *Redactor) tokens(text string, tokens []Token, spans [][]int) string {
	names := map[string]bool{} // of keys, with the numbers of their objects
	name := func(object int, key string) string { return fmt.Sprint(object, " ", key) }
	for _, t := range tokens {
		if t.Key && r.Text(t.text) == t.text {
			names[name(t.object, t.text)] = true
		}
	}
	var out strings.Builder
	done := 0
	for _, t := range tokens {
		raw := text[t.From:t.To]
		meant := t.text
		if !t.quoted {
			meant = raw
		}
		now := r.Text(meant)
		if now == meant && Overlaps(spans, t.From, t.To) {
			now = Mark
		}
		if now == meant {
			continue
		}
		if t.Key {
			now = r.unused(now, func(key string) bool { return names[name(t.object, key)] })
			names[name(t.object, now)] = true
		}
		quoted := marshal(now)
		if t.quoted {
			quoted = quoted[1 : len(quoted)-1]
		}
		out.WriteString(text[done:t.From])
		out.Write(quoted)
		done = t.To
	}
	return out.String() + text[done:]
}

// unused numbers a name that redaction made equal to another one.
func (r *Redactor) unused(name string, taken func(string) bool) string {
	out := name
	for n := 2; taken(out); n++ {
		if out = fmt.Sprintf("%s %d", name, n); r.Matches(out) {
			out = strings.Repeat(Mark, n) // the number is a match
		}
	}
	return out
}

// Value returns a value without matches, as JSON decodes it. A value that JSON cannot write becomes
// [Mark].
func (r *Redactor) Value(value any) any {
	if r == nil || value == nil {
		return value
	}
	line := marshal(value)
	if line == nil {
		return Mark
	}
	redacted := r.JSON(string(line))
	if redacted == string(line) {
		return value
	}
	var out any
	d := json.NewDecoder(strings.NewReader(redacted))
	d.UseNumber() // a long number keeps its digits
	if d.Decode(&out) != nil {
		return Mark
	}
	return out
}

// marshal returns JSON on one line with as few escapes as possible, or nil for a value that JSON
// cannot write.
func marshal(value any) []byte {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return nil
	}
	return bytes.TrimSpace(line.Bytes())
}
