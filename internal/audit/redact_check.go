package audit

import (
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// word is a piece of a line: a word of the format, or what somebody said.
type word struct {
	text string
	said bool
}

// words is a line of an export.
type words []word

func (w words) String() string {
	var b strings.Builder
	for _, piece := range w {
		b.WriteString(piece.text)
	}
	return b.String()
}

func fixed(text string) word { return word{text, false} }
func said(text string) word  { return word{text, true} }

// line returns an error if a match has any part of what was said in a line.
func (r *Redactor) line(w words) error {
	if r == nil {
		return nil
	}
	text, at := w.String(), 0
	spans := r.spans(text)
	for _, piece := range w {
		if piece.said {
			if err := refuse(text, spans, at, at+len(piece.text)); err != nil {
				return err
			}
		}
		at += len(piece.text)
	}
	return nil
}

// json is line for a line of JSON: names of fields are words of the format, other keys are not.
func (r *Redactor) json(line string) error {
	if r == nil {
		return nil
	}
	spans := r.spans(line)
	if len(spans) == 0 {
		return nil
	}
	for _, t := range jsonTokens(line) {
		if t.key && wordsOfTheFormat[line[t.from:t.to]] {
			continue
		}
		if err := refuse(line, spans, t.from, t.to); err != nil {
			return err
		}
	}
	return nil
}

// block checks what stands in a document.
func (r *Redactor) block(b *Block) error {
	if err := r.line(b.title); err != nil {
		return err
	}
	switch b.Kind {
	case "call", "response", "state":
		return r.json(b.Text)
	}
	return r.line(words{said(b.Text)})
}

// refuse is the error of a match that has a part of what stands between from and to.
func refuse(text string, spans [][]int, from, to int) error {
	s := overlap(spans, from, to)
	if s == nil {
		return nil
	}
	const most = 100
	found := text[s[0]:s[1]]
	if len(found) > most {
		found = found[:most] + "..."
	}
	return fmt.Errorf("a pattern %w: %q, which is more than one value: make the pattern narrower, or name the values one by one", ErrRedact, found)
}

// wordsOfTheFormat are the names of the fields of an event and of a record in JSON.
var wordsOfTheFormat = formatWords()

func formatWords() map[string]bool {
	names := map[string]bool{record.Key: true}
	seen := map[reflect.Type]bool{}
	var fields func(reflect.Type)
	fields = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			fields(t.Elem())
		case reflect.Struct:
			if seen[t] || t == timeType {
				return
			}
			seen[t] = true
			for i := range t.NumField() {
				f := t.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if name == "" {
					name = f.Name
				}
				names[name] = true
				fields(f.Type)
			}
		}
	}
	fields(reflect.TypeFor[session.Event]())
	var keys func(any)
	keys = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, inner := range v {
				names[key] = true
				keys(inner)
			}
		case []any:
			for _, inner := range v {
				keys(inner)
			}
		}
	}
	keys(fullRecord)
	return names
}
