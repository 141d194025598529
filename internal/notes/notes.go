// Package notes is the form of what the layers write to the model at the end of the conversation: into a tool
// result under a key of their own, or as a part of the user's message. Those who read conversations recognize
// a note by it, and leave it out.
package notes

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/quote"
)

// Kind is a kind of note.
type Kind struct {
	// Key is the key of such a note in a function response.
	Key string
	// opens begins the text of a note, and then comes where it does not come from.
	opens string
	most  int // bytes of a whole note
}

// The keys of notes.
const (
	ContextKey    = "context_status"
	ScratchpadKey = "session_scratchpad"
	StatusKey     = "session_status"
	BudgetKey     = "session_budget"
	WatchdogKey   = "session_watchdog"
)

// MaxText is the longest text of a scratchpad or a status, in bytes. It is stored with the conversation each
// time it changes, so it should be much shorter.
const MaxText = 8 << 10

// most is MaxText and room for its frame.
const most = MaxText + 128

// The kinds of notes.
var (
	// Context says how full the context window is, Budget how much of the turn's limits is used, and Watchdog
	// what the agent does over and over. Each text is a sentence or more in brackets, with these beginnings.
	Context    = Kind{ContextKey, "[Context: ", 1 << 10}
	Budget     = Kind{BudgetKey, "[Budget: ", 1 << 10}
	Watchdog   = Kind{WatchdogKey, "[You ", 1 << 10}
	Scratchpad = Kind{ScratchpadKey, "[Scratchpad, from the app", most}
	Status     = Kind{StatusKey, "[Status, from the app", most}
)

var all = []Kind{Context, Budget, Watchdog, Scratchpad, Status}

const (
	notFromTool = " and not from this tool:\n"
	notFromUser = " and not from the user:\n"
	closes      = "\n]"
)

// ForTool returns a cleaned text as a note in a function response.
func (k Kind) ForTool(text string) string { return k.opens + notFromTool + text + closes }

// ForUser returns a cleaned text as a part of a user's message.
func (k Kind) ForUser(text string) string { return k.opens + notFromUser + text + closes }

// Is reports whether an entry of a function response is such a note. Every other value under its key is part
// of the tool's result.
func (k Kind) Is(key string, value any) bool {
	text, ok := value.(string)
	return ok && key == k.Key && len(text) <= k.most && strings.HasPrefix(text, k.opens)
}

// Into writes a note, as Is recognizes it, into the newest function response of a content. The response gets
// a new map, because the old one may be the tool's own. A response in which the tool itself uses the key is
// left alone, and so are those of exempt tools. Into returns false if no response can take the note.
func (k Kind) Into(c *genai.Content, note string, exempt func(tool string) bool) bool {
	if c == nil {
		return false
	}
	for _, p := range slices.Backward(c.Parts) {
		if p == nil || p.FunctionResponse == nil || p.FunctionResponse.Response == nil || exempt(p.FunctionResponse.Name) {
			continue
		}
		if own, taken := p.FunctionResponse.Response[k.Key]; taken && !k.Is(k.Key, own) {
			continue
		}
		response := maps.Clone(p.FunctionResponse.Response)
		response[k.Key] = note
		p.FunctionResponse.Response = response
		return true
	}
	return false
}

// Is reports whether an entry of a function response is a note of any kind.
func Is(key string, value any) bool {
	for _, k := range all {
		if k.Key == key {
			return k.Is(key, value)
		}
	}
	return false
}

// IsPart reports whether a part of a user's message is a note.
func IsPart(p *genai.Part) bool {
	return p != nil && p.Text != "" && (Scratchpad.isText(p.Text) || Status.isText(p.Text))
}

func (k Kind) isText(text string) bool {
	return len(text) <= k.most && strings.HasPrefix(text, k.opens+notFromUser) && strings.HasSuffix(text, closes)
}

// Without returns a response without notes: response itself if it has none.
func Without(response map[string]any) map[string]any {
	found := 0
	for _, k := range all {
		if value, has := response[k.Key]; has && k.Is(k.Key, value) {
			found++
		}
	}
	if found == 0 {
		return response
	}
	out := make(map[string]any, len(response)-found)
	for key, value := range response {
		if !Is(key, value) {
			out[key] = value
		}
	}
	return out
}

// In returns the text of the newest note of a kind in a content, "" if there is none. A model that repeats a
// note has not written one.
func (k Kind) In(c *genai.Content) string {
	for i := len(c.Parts) - 1; i >= 0; i-- {
		p := c.Parts[i]
		if p == nil {
			continue
		}
		text, from := "", notFromTool
		switch {
		case p.FunctionResponse != nil:
			text, _ = p.FunctionResponse.Response[k.Key].(string)
		case p.Text != "" && c.Role != genai.RoleModel:
			text, from = p.Text, notFromUser
		}
		if inner, ok := strings.CutPrefix(text, k.opens+from); ok && strings.HasSuffix(inner, closes) {
			return strings.TrimSuffix(inner, closes)
		}
	}
	return ""
}

// cut stands for what is missing of a text that is too long.
const cut = "\n[the rest is left out]"

// Clean returns a text in which nothing reads as the beginning of a scratchpad or a status. A longer text
// than MaxText is only checked, not cut: see Shorten.
func Clean(text string) string { return cleaned.Unframe(text) }

// cleaned are Scratchpad.opens and Status.opens, as package quote takes them.
var cleaned = quote.FramesOf("scratchpadfromtheapp", "statusfromtheapp")

// Shorten returns the beginning of a text that is longer than MaxText, in whole runes, with a line that says
// so.
func Shorten(text string) string {
	if len(text) <= MaxText {
		return text
	}
	end := MaxText - len(cut)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cut
}
