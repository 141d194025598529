package summarizer

import (
	"encoding/json"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// substanceOf returns the sentences of an answer that may have substance. It drops markup, JSON
// syntax, headings, labels without a value, placeholders, and lines of the prompt. It keeps a
// heading with a concrete value of the window:
//
//	# Summary                   left out
//	# Order A-17 refunded       kept, if the window has A-17
//	[summary here]              left out
func substanceOf(text string, w *window) []string {
	text = strings.Map(visible, html.UnescapeString(text))
	text = thoughts.ReplaceAllString(text, "\n")
	text = withoutJSON(unfenced(text), w)
	text = tag.ReplaceAllString(text, "\n")
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		bare := strings.Trim(line, lineMarks)
		switch {
		case !hasWord(bare), isNumbering(bare), isFence(line), isPlaceholder(bare), fromPrompt(line):
		case isHeadingLine(line) && w.keeps(bare) == 0:
		default:
			out = slices.AppendSeq(out, sentences(bare))
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return !hasWord(s) })
}

// visible maps invisible characters, which some models write inside words, to -1, so that
// strings.Map drops them.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// lineMarks are the characters that Markdown puts around a line.
const lineMarks = "#>*_~`|=-+•·– \t"

// thoughts matches the reasoning that some models write before their answer.
var thoughts = regexp.MustCompile(`(?s)<think(?:ing)?>.*?</think(?:ing)?>`)

// tag matches an HTML or XML tag, but not "<5 minutes".
var tag = regexp.MustCompile(`</?[A-Za-z][\w:.-]{0,40}(\s[^<>\n]{0,200})?/?>`)

func hasWord(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// isNumbering reports whether a line has only the numbers of a list.
func isNumbering(line string) bool { return numbering.MatchString(line) }

var numbering = regexp.MustCompile(`^(?:\d{1,2}[.):]?\s*)+$`)

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// isPlaceholder reports whether a line is one text in brackets, such as "[summary here]" or
// "{{history}}".
func isPlaceholder(line string) bool {
	const longest = 200 // a whole paragraph in brackets is content
	if len(line) < 2 || len(line) > longest {
		return false
	}
	inner := line[1 : len(line)-1]
	switch line[:1] + line[len(line)-1:] {
	case "[]":
		return !strings.ContainsAny(inner, "[]")
	case "{}":
		return strings.HasPrefix(inner, "{") && strings.HasSuffix(inner, "}")
	default:
		return false
	}
}

// isHeadingLine reports whether a line only announces what follows.
func isHeadingLine(line string) bool {
	if strings.HasPrefix(line, "#") {
		return true
	}
	if strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**") && !strings.Contains(strings.Trim(line, "*"), "**") {
		return utf8.RuneCountInString(line) < 60 && !strings.ContainsAny(line, ".;!?。！？")
	}
	line = strings.TrimRight(line, "*_ ")
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")
}

// promptLines are the lines of the built-in prompts, which weak models return.
var promptLines = sync.OnceValue(func() map[string]bool {
	lines := map[string]bool{}
	add := func(text string) {
		for line := range strings.SplitSeq(text, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				lines[line] = true
			}
		}
	}
	add(dataNote)
	for _, pack := range packs {
		add(pack)
	}
	return lines
})

func fromPrompt(line string) bool { return promptLines()[line] }

// unfenced returns the content of a code fence if the text consists of one.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "```") || !strings.HasSuffix(text, "```") {
		return text
	}
	_, inner, ok := strings.Cut(text, "\n")
	if !ok {
		return text
	}
	return strings.TrimSpace(strings.TrimSuffix(inner, "```"))
}

// withoutJSON returns the values of a JSON document, one per line. It drops values that are not
// sentences, such as IDs and states, unless they are concrete values of the window. If the text
// looks like JSON but cannot be parsed, because it is cut short for example, withoutJSON removes
// the keys. It returns any other text unchanged.
func withoutJSON(text string, w *window) string {
	if text == "" || !strings.ContainsAny(text[:1], `{["`) {
		return text
	}
	var doc any
	if json.Unmarshal([]byte(text), &doc) != nil {
		if text[0] == '{' {
			return jsonKey.ReplaceAllString(text, "\n")
		}
		return text
	}
	var lines []string
	collectProse(doc, w, &lines)
	return strings.Join(lines, "\n")
}

var jsonKey = regexp.MustCompile(`[{,]?\s*["'][\w .-]{1,40}["']\s*:`)

func collectProse(v any, w *window, lines *[]string) {
	switch v := v.(type) {
	case string:
		if isPhrase(v) || w.keeps(v) > 0 {
			*lines = append(*lines, v)
		}
	case []any:
		for _, item := range v {
			collectProse(item, w, lines)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			collectProse(v[key], w, lines)
		}
	}
}

// isErrorReport reports whether a text is a web page, or a JSON object with an error. If a provider
// fails, gateways and adapters return such texts as answers.
func isErrorReport(text string) bool {
	text = unfenced(text)
	start := strings.ToLower(text[:min(len(text), len("<!doctype html"))])
	if start == "<!doctype html" || strings.HasPrefix(start, "<html") {
		return true
	}
	var doc struct {
		Error json.RawMessage `json:"error"`
	}
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &doc) != nil {
		return false
	}
	return !slices.Contains([]string{"", "null", "false", `""`, "{}", "[]"}, string(doc.Error))
}

// isPhrase reports whether a string is more than one word.
func isPhrase(s string) bool {
	v := newVocabulary()
	v.add(s)
	return v.total > 1 && (strings.ContainsFunc(s, unicode.IsSpace) || len(v.words) == 0)
}
