package main

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The modules whose paths name the major. They are in parts, so that this command is the same in both trees.
const (
	adk  = "google.golang.org/" + "adk"
	ours = "github.com/adk-go-ext/" + "longsession"
)

// withPaths returns a text with /v2 behind each path of the two modules.
func withPaths(text string) string {
	for _, module := range []string{adk, ours} {
		before, after, found := strings.Cut(text, module)
		var out strings.Builder
		for ; found; before, after, found = strings.Cut(after, module) {
			out.WriteString(before + module)
			if begins(before) && ends(after) {
				out.WriteString("/v2")
			}
		}
		text = out.String() + before
	}
	return text
}

// renamed are the names that ADK v2 calls otherwise, and that mean the same. What means something else is in internal/adk.
var renamed = regexp.MustCompile(`\b(?:agent\.(?:ToolContext|CallbackContext)|session\.NewEventWithContext)\b`)

// withNames returns a text with the names of ADK v2.
func withNames(text string) string {
	return renamed.ReplaceAllStringFunc(text, func(name string) string {
		if strings.HasPrefix(name, "session.") {
			return "session.NewEvent"
		}
		return "agent.Context"
	})
}

// begins reports whether a path of a module may come behind a text: it is neither an address nor the end of another name.
func begins(before string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	return !inName(last) && last != '.' && last != '@' && !strings.HasSuffix(before, "://")
}

// ends reports whether a path of a module ends before a text, and lacks its major.
func ends(after string) bool {
	if !whole(after) || strings.HasPrefix(after, "@v0.") || strings.HasPrefix(after, "@v1.") {
		return false
	}
	rest, major := strings.CutPrefix(after, "/v2")
	return !major || !whole(rest)
}

// whole reports whether no name goes on in a text. A full stop ends a sentence, unless a name follows, as in ".git".
func whole(after string) bool {
	next, size := utf8.DecodeRuneInString(after)
	if next == '.' {
		next, _ = utf8.DecodeRuneInString(after[size:])
	}
	return !inName(next)
}

func inName(r rune) bool {
	return r == '-' || r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
