package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

const (
	// tallest is how many rows the text may take up on the screen. It scrolls if it has more.
	tallest = 10
	// longestLine is the longest pasted text, in bytes, that is shown as it is. A longer one, and one with tabs or
	// several lines, is shown as its number of lines.
	longestLine = 500
)

// editor reads messages at a terminal. Each message is a program of its own, so that between two messages the terminal
// is in its normal mode: answers scroll, and Ctrl-C is a signal.
type editor struct {
	in, out  *os.File
	history  *history
	complete func(line string) []string
}

// New returns a reader: an editor if both streams are terminals that can move the cursor, else one that reads lines.
func New(cfg Config) (Reader, error) {
	in, isIn := cfg.In.(*os.File)
	out, isOut := cfg.Err.(*os.File)
	if !isIn || !isOut || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return Lines(cfg.In), nil
	}
	if os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		return prompted{Lines(cfg.In), out}, nil
	}
	return &editor{in: in, out: out, history: openHistory(cfg.HistoryFile), complete: cfg.Complete}, nil
}

// prompted reads lines from a terminal that cannot move the cursor.
type prompted struct {
	Reader
	out io.Writer
}

func (p prompted) Read(ctx context.Context, prompt string) (string, error) {
	_, _ = io.WriteString(p.out, prompt)
	return p.Reader.Read(ctx, prompt)
}

func (p prompted) Ask(ctx context.Context, question string) (string, error) {
	return p.Read(ctx, question)
}

func (e *editor) Read(ctx context.Context, prompt string) (string, error) {
	text, err := e.edit(ctx, prompt, e.history.entries)
	if err == nil {
		e.history.add(text)
	}
	return text, err
}

func (e *editor) Ask(ctx context.Context, question string) (string, error) {
	return e.edit(ctx, question, nil)
}

func (e *editor) Close() error { return e.history.save() }

// edit runs the program for one message.
func (e *editor) edit(ctx context.Context, prompt string, past []string) (string, error) {
	m := newModel(prompt, past, e.complete)
	ended, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(e.in), tea.WithOutput(e.out), tea.WithoutSignalHandler()).Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if errors.Is(err, tea.ErrInterrupted) {
		return "", ErrInterrupted
	}
	if err != nil {
		return "", fmt.Errorf("the terminal cannot be read: %w", err)
	}
	m = ended.(*editModel)
	return m.message(), m.err
}

// editModel is the text while it is typed.
type editModel struct {
	prompt   string
	text     textarea.Model
	complete func(line string) []string
	offers   string // what the Tab key has found

	past  []string // earlier messages, the newest last
	at    int      // the one that is shown; len(past) is the new one
	draft string   // the new one, while an earlier one is shown

	pasted []paste
	done   bool
	err    error
}

// paste is a text that a mark stands for on the screen.
type paste struct{ mark, raw string }

func newModel(prompt string, past []string, complete func(string) []string) *editModel {
	t := textarea.New()
	t.ShowLineNumbers = false
	t.CharLimit, t.MaxWidth, t.MaxHeight, t.MaxContentHeight = 0, 0, tallest, 1<<30
	t.DynamicHeight, t.MinHeight = true, 1
	t.SetStyles(textarea.Styles{})
	t.SetVirtualCursor(false) // input methods write where the real one is
	width := len(prompt)
	t.SetPromptFunc(width, func(info textarea.PromptInfo) string {
		if info.LineNumber == 0 {
			return prompt
		}
		return strings.Repeat(" ", width)
	})
	t.KeyMap.InsertNewline.SetKeys("alt+enter", "ctrl+j", "shift+enter")
	t.KeyMap.DeleteCharacterForward.SetKeys("delete")
	t.KeyMap.Paste.SetEnabled(false)
	t.Focus()
	return &editModel{prompt: prompt, text: t, complete: complete, past: past, at: len(past)}
}

// Init implements [tea.Model].
func (m *editModel) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (m *editModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.text.SetWidth(max(msg.Width, terminal.Narrowest))
		return m, nil
	case tea.PasteMsg:
		m.paste(msg.Content)
		return m, nil
	case tea.KeyPressMsg:
		m.offers = ""
		if cmd, taken := m.press(msg.String()); taken {
			return m, cmd
		}
	}
	var cmd tea.Cmd
	m.text, cmd = m.text.Update(msg)
	return m, cmd
}

// press handles the keys that are not the text's own.
func (m *editModel) press(key string) (cmd tea.Cmd, taken bool) {
	switch key {
	case "enter":
		return m.end(nil), true
	case "ctrl+c":
		if m.text.Value() == "" {
			return m.end(ErrInterrupted), true
		}
		m.set("")
		m.pasted, m.at = nil, len(m.past)
		return nil, true
	case "ctrl+d":
		if m.text.Value() == "" {
			return m.end(io.EOF), true
		}
		m.text, cmd = m.text.Update(tea.KeyPressMsg{Code: tea.KeyDelete})
		return cmd, true
	case "up":
		if m.text.Line() == 0 && m.text.LineInfo().RowOffset == 0 {
			m.browse(-1)
			return nil, true
		}
	case "down":
		if info := m.text.LineInfo(); m.text.Line() == m.text.LineCount()-1 && info.RowOffset >= info.Height-1 {
			m.browse(1)
			return nil, true
		}
	case "tab":
		m.tab()
		return nil, true
	case "ctrl+l":
		return tea.ClearScreen, true
	}
	return nil, false
}

// end leaves the program.
func (m *editModel) end(err error) tea.Cmd {
	m.done, m.err, m.offers = true, err, ""
	m.text.Blur()
	return tea.Quit
}

func (m *editModel) set(text string) {
	m.text.SetValue(text)
	m.text.MoveToEnd()
}

// browse shows an earlier or a later message.
func (m *editModel) browse(by int) {
	to := m.at + by
	if to < 0 || to > len(m.past) {
		return
	}
	if m.at == len(m.past) {
		m.draft = m.message()
	}
	m.at = to
	if to == len(m.past) {
		m.set("")
		m.paste(m.draft)
		return
	}
	m.set("")
	m.paste(m.past[to])
}

// paste puts text in as it is. What would not look like it, or fill the screen, is represented by a mark: the text area
// turns tabs into blanks.
func (m *editModel) paste(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.ToValidUTF8(text, "\uFFFD")
	if text == "" {
		return
	}
	if !strings.ContainsAny(text, "\n\t") && len(text) <= longestLine && terminal.Printable(text) == text {
		m.text.InsertString(text)
		return
	}
	mark := fmt.Sprintf("[pasted %s]", terminal.Plural(strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1, "line"))
	for n := 2; m.marked(mark) || strings.Contains(m.text.Value(), mark); n++ {
		mark = fmt.Sprintf("[pasted %s, no. %d]", terminal.Plural(strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1, "line"), n)
	}
	m.pasted = append(m.pasted, paste{mark, text})
	m.text.InsertString(mark)
}

func (m *editModel) marked(mark string) bool {
	for _, p := range m.pasted {
		if p.mark == mark {
			return true
		}
	}
	return false
}

// message is the text with all that was pasted.
func (m *editModel) message() string {
	text := m.text.Value()
	var pairs []string
	for _, p := range m.pasted {
		pairs = append(pairs, p.mark, p.raw)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// tab completes the line, or shows what it may become.
func (m *editModel) tab() {
	line := m.text.Value()
	if m.complete == nil || strings.Contains(line, "\n") {
		return
	}
	offers := m.complete(line)
	switch common := commonPrefix(offers); {
	case len(offers) == 1:
		m.set(offers[0] + " ")
	case len(common) > len(line):
		m.set(common)
	case len(offers) > 1:
		m.offers = strings.Join(offers, "  ")
	}
}

func commonPrefix(all []string) string {
	if len(all) == 0 {
		return ""
	}
	common := all[0]
	for _, s := range all[1:] {
		for !strings.HasPrefix(s, common) {
			common = common[:len(common)-1]
		}
	}
	return common
}

// View implements [tea.Model].
func (m *editModel) View() tea.View {
	content := m.text.View()
	if m.done {
		// What stays on the screen has no trailing blanks, which would wrap when the window gets narrower.
		lines := strings.Split(content, "\n")
		for i, line := range lines {
			lines[i] = strings.TrimRight(line, " ")
		}
		return tea.NewView(strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n")
	}
	if m.offers != "" {
		content += "\n" + terminal.Shorten(m.offers, m.text.Width())
	}
	v := tea.NewView(content)
	v.Cursor = m.text.Cursor()
	return v
}
