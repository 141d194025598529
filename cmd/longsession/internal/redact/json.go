package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Token is a key or a value in a JSON text.
type Token struct {
	// From and To are its offsets, without quotes. A null is empty.
	From, To int
	Key      bool
	// Path is its path, such as "Content.parts[0].text".
	Path string
	// Text is its text, without the escapes of JSON.
	Text string

	quoted bool
	object int // number of the object of a key
}

// Tokens returns the keys and values of a JSON text, in order.
func Tokens(text string) ([]Token, error) {
	if !json.Valid([]byte(text)) {
		return nil, errors.New("not JSON")
	}
	l := lexer{text: text, d: json.NewDecoder(strings.NewReader(text))}
	l.d.UseNumber()
	l.value("")
	return l.out, nil
}

// lexer reads valid JSON.
type lexer struct {
	text    string
	d       *json.Decoder
	out     []Token
	objects int
}

// value reads a value with everything in it.
func (l *lexer) value(path string) {
	token, t := l.next(path)
	switch token {
	case json.Delim('{'):
		l.objects++
		for object := l.objects; l.d.More(); {
			_, key := l.next(path)
			key.Key, key.object, key.Path = true, object, joinPath(path, "."+key.Text)
			l.out = append(l.out, key)
			l.value(key.Path)
		}
		l.next(path)
	case json.Delim('['):
		for i := 0; l.d.More(); i++ {
			l.value(joinPath(path, fmt.Sprintf("[%d]", i)))
		}
		l.next(path)
	default:
		l.out = append(l.out, t)
	}
}

// next reads the next key, value or bracket.
func (l *lexer) next(path string) (json.Token, Token) {
	rest := strings.TrimLeft(l.text[l.d.InputOffset():], " \t\r\n,:")
	token, _ := l.d.Token()
	t := Token{From: len(l.text) - len(rest), To: int(l.d.InputOffset()), Path: path}
	switch said := token.(type) {
	case string:
		t.From, t.To, t.Text, t.quoted = t.From+1, t.To-1, said, true
	case nil:
		t.To = t.From
	default:
		t.Text = l.text[t.From:t.To]
	}
	return token, t
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
	type name struct {
		object int
		key    string
	}
	names := map[name]bool{}
	for _, t := range tokens {
		if t.Key && r.Text(t.Text) == t.Text {
			names[name{t.object, t.Text}] = true
		}
	}
	var out strings.Builder
	done := 0
	for _, t := range tokens {
		now := r.Text(t.Text)
		if now == t.Text && Overlaps(spans, t.From, t.To) {
			now = Mark
		}
		if now == t.Text {
			continue
		}
		if t.Key {
			now = r.unused(now, func(key string) bool { return names[name{t.object, key}] })
			names[name{t.object, now}] = true
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
