package input

import (
	"errors"
	"io"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// typing plays messages of a terminal.
func typing(m *editModel, msgs ...tea.Msg) {
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 20})
	for _, msg := range msgs {
		m.Update(msg)
	}
}

func key(code rune, mod ...tea.KeyMod) tea.Msg {
	k := tea.KeyPressMsg{Code: code}
	for _, m := range mod {
		k.Mod |= m
	}
	return k
}

func letters(text string) (msgs []tea.Msg) {
	for _, r := range text {
		msgs = append(msgs, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return msgs
}

func TestAPasteIsOneMessageAsItIs(t *testing.T) {
	t.Parallel()
	raw := strings.Repeat("one\ttwo\n", 2000)
	m := newModel("> ", nil, nil)
	typing(m, append(letters("look: "), tea.PasteMsg{Content: raw}, tea.PasteMsg{Content: raw}, tea.PasteMsg{Content: "short"})...)
	if shown := m.text.Value(); shown != "look: [pasted 2,000 lines][pasted 2,000 lines, no. 2]short" {
		t.Errorf("shown %q", shown)
	}
	m.Update(key(tea.KeyEnter))
	if !m.done || m.message() != "look: "+raw+raw+"short" {
		t.Errorf("done %v, message of %d bytes", m.done, len(m.message()))
	}
}

func TestEarlierMessagesComeBack(t *testing.T) {
	t.Parallel()
	m := newModel("> ", []string{"first", "second\n\tlines"}, nil)
	typing(m, append(letters("draft"), key(tea.KeyUp), key(tea.KeyUp))...)
	if m.message() != "first" {
		t.Errorf("message %q", m.message())
	}
	typing(m, key(tea.KeyDown))
	if m.message() != "second\n\tlines" {
		t.Errorf("message %q", m.message())
	}
	typing(m, key(tea.KeyDown), key(tea.KeyDown))
	if m.message() != "draft" {
		t.Errorf("message %q", m.message())
	}
}

func TestKeysThatEndAMessage(t *testing.T) {
	t.Parallel()
	ctrl := func(r rune) tea.Msg { return key(r, tea.ModCtrl) }
	for name, c := range map[string]struct {
		msgs []tea.Msg
		want error
		text string
	}{
		"Ctrl-C on nothing":        {[]tea.Msg{ctrl('c')}, ErrInterrupted, ""},
		"Ctrl-C on text clears it": {append(letters("abc"), ctrl('c'), key(tea.KeyEnter)), nil, ""},
		"Ctrl-D on nothing":        {[]tea.Msg{ctrl('d')}, io.EOF, ""},
		"Alt-Enter is a line":      {append(append(letters("a"), key(tea.KeyEnter, tea.ModAlt)), append(letters("b"), key(tea.KeyEnter))...), nil, "a\nb"},
		"wide characters":          {append(letters("你好👋e"), key(tea.KeyEnter)), nil, "你好👋e"},
	} {
		m := newModel("> ", nil, nil)
		typing(m, c.msgs...)
		if !m.done || !errors.Is(m.err, c.want) || m.message() != c.text {
			t.Errorf("%s: done %v, error %v, message %q", name, m.done, m.err, m.message())
		}
	}
}

func TestTabCompletes(t *testing.T) {
	t.Parallel()
	complete := func(line string) (out []string) {
		for _, c := range []string{"/compact", "/compaction-status", "/context"} {
			if strings.HasPrefix(c, line) {
				out = append(out, c)
			}
		}
		return out
	}
	m := newModel("> ", nil, complete)
	typing(m, append(letters("/comp"), key(tea.KeyTab))...)
	if m.text.Value() != "/compact" {
		t.Errorf("text %q", m.text.Value())
	}
	typing(m, key(tea.KeyTab))
	if !strings.Contains(m.View().Content, "/compact  /compaction-status") {
		t.Errorf("view %q", m.View().Content)
	}
	m = newModel("> ", nil, complete)
	typing(m, append(letters("/con"), key(tea.KeyTab))...)
	if m.text.Value() != "/context " {
		t.Errorf("text %q", m.text.Value())
	}
}
