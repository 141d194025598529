package toolsearch

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/adk-go-ext/longsession/internal/quote"
)

// Names, descriptions and schemas come from servers of other people. They are shown as values of the answer
// and cannot write into its note, nor imitate the notes, marks and frames of the layers of this module.

// ourMarks begin the notes and marks of this module that signs make, and those of one word, which stand in other text, too.
var ourMarks = regexp.MustCompile(`(?i)\[(\s*(?:\.\.\.|context\s*:|truncated\s*:))`)

// The words that begin the other marks, and the names of the frames of this module, as package quote takes them.
var (
	ourWords = quote.FramesOf("resultmasked", "toolresultstored", "conversationtruncated", "#toolsdeferred", "##toolsdeferred", "###toolsdeferred", "####toolsdeferred")
	ourTags  = []string{"agentsmd", "memories", "skills", "scratchpad", "status", "conversationsummary"}
)

// foreignText returns a text within some bytes, as UTF-8, without marks and frames of ours, and without
// characters that are not visible.
func foreignText(text string, most int) string {
	short := strings.Map(visible, strings.ToValidUTF8(beginning(text, most), "\uFFFD"))
	if len(text) > most || len(short) > most {
		short = beginning(short, most-len(cutMark)) + cutMark // half of a longer name may be that of a frame
	}
	return quote.Untag(ourWords.Unframe(ourMarks.ReplaceAllString(short, "($1")), "(", ourTags...)
}

// cutMark ends a text that is shown in part.
const cutMark = " …"

// visible drops control characters and those that change how text is displayed.
func visible(r rune) rune {
	if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200D') {
		return -1
	}
	return r
}

// plainName is a name that can stand in a sentence as it is.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:/-]{0,63}$`)

// shownName returns a name for a note of ours: quoted unless it is plain.
func shownName(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return strconv.QuoteToASCII(beginning(name, maxName))
}

// The keywords of a schema: those that only describe, those whose value is data of any form, and those that
// hold schemas by names of the server's choice, which may be the name of a keyword.
var (
	textKeys  = map[string]bool{"description": true, "title": true, "$comment": true, "examples": true, "default": true}
	dataKeys  = map[string]bool{"default": true, "examples": true, "example": true, "const": true, "enum": true}
	namedKeys = map[string]bool{"properties": true, "patternProperties": true, "dependentSchemas": true, "$defs": true, "definitions": true}
)

// withoutMarks shows the descriptions of a schema as foreign text. It changes the schema, which belongs to
// the caller, but no data in it, which the agent may share.
func withoutMarks(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			named, isMap := inner.(map[string]any)
			text, isText := inner.(string)
			switch {
			case isMap && namedKeys[key]:
				for _, schema := range named {
					withoutMarks(schema)
				}
			case isText && textKeys[key]:
				v[key] = foreignText(text, maxSchemaBytes)
			case !dataKeys[key]:
				withoutMarks(inner)
			}
		}
	case []any:
		for _, inner := range v {
			withoutMarks(inner)
		}
	}
	return value
}

// withoutTexts returns a copy of a schema without what only describes.
func withoutTexts(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			named, isMap := inner.(map[string]any)
			switch {
			case isMap && namedKeys[key]:
				schemas := make(map[string]any, len(named))
				for name, schema := range named {
					schemas[name] = withoutTexts(schema)
				}
				out[key] = schemas
			case dataKeys[key] && !textKeys[key]:
				out[key] = inner
			case !textKeys[key]:
				out[key] = withoutTexts(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = withoutTexts(inner)
		}
		return out
	}
	return value
}

// outlineOf returns the names and types of a schema's own properties.
func outlineOf(schema map[string]any) map[string]any {
	out := map[string]any{"type": "object"}
	properties, _ := schema["properties"].(map[string]any)
	outline := make(map[string]any, len(properties))
	for name, value := range properties {
		property := map[string]any{}
		if inner, ok := value.(map[string]any); ok {
			if kind, ok := inner["type"].(string); ok {
				property["type"] = kind
			}
		}
		outline[name] = property
	}
	out["properties"] = outline
	if required, ok := schema["required"].([]any); ok {
		out["required"] = required
	}
	return out
}
