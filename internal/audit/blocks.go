package audit

import (
	"fmt"
	"strconv"
	"strings"
)

// Block is a part of what an event says.
type Block struct {
	// Kind is "text", "thought", "call", "response", "other", "state", "error", "summary" or "problem".
	Kind string
	// Title is "" for what was said.
	Title string
	Text  string

	// title is Title as it is put together.
	title words
}

// Blocks returns what an event says in the order in which people read it; calls and responses as JSON.
func Blocks(e *Entry) []Block {
	var out []Block
	add := func(kind string, title words, text string) {
		if text != "" {
			out = append(out, Block{kind, title.String(), text, title})
		}
	}
	titled := func(kind, title, text string) { add(kind, words{fixed(title)}, text) }
	titled("problem", "cannot be read", e.Unreadable)
	titled("thought", "thought", e.Thoughts)
	add("text", nil, e.Text)
	for _, c := range e.Calls {
		add("call", words{fixed("call of "), said(c.Name)}, compact(c.Args))
	}
	for _, r := range e.Responses {
		add("response", words{fixed("response of "), said(r.Name)}, compact(r.Response))
	}
	for _, o := range e.Other {
		titled("other", "also", o)
	}
	if e.State != nil {
		titled("state", "state set", compact(e.State))
	}
	titled("error", "error", e.Error)
	if m := e.Record; m != nil {
		titled("problem", "cannot be read", m.Problem)
		add("summary", words{said(m.Kind), fixed(" for "), said(strconv.Itoa(m.Events)), fixed(" events (trigger "), said(m.Trigger),
			fixed(", level "), said(strconv.Itoa(m.Level)), fixed(")")}, m.Summary)
		titled("text", "focus", m.Focus)
		titled("text", "note", m.Note)
	}
	return out
}

// compact is a value as JSON on one line.
func compact(value map[string]any) string {
	if value == nil {
		return "{}"
	}
	text, err := marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(string(text))
}
