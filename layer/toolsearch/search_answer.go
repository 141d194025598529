package toolsearch

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genai"
)

// The keys of tool_search's answer. A model that promotes reads the names from it.
const (
	toolsKey       = "tools"
	noteKey        = "note"
	descriptionKey = "description"
	parametersKey  = "parameters"
)

// Bounds of an answer, in bytes of JSON. Five ordinary tools take 2,000 to 10,000.
const (
	maxAnswerBytes      = 32 << 10
	maxSchemaBytes      = 16 << 10
	maxDescriptionBytes = 2 << 10
)

// found is what one search returns.
type found struct {
	tools []any
	notes []string
	size  int
	more  []string // names for which there was no room
}

// add adds a tool with its description and parameters, or its name only if there is no room for more.
func (a *found) add(e entry) {
	room := maxAnswerBytes - a.size - maxDescriptionBytes
	if room <= 0 {
		a.more = append(a.more, e.decl.Name)
		return
	}
	parameters, size, note := shownParameters(e.decl, min(room, maxSchemaBytes))
	if note != "" {
		a.note(note)
	}
	shown := map[string]any{nameKey: e.decl.Name, descriptionKey: foreignText(e.decl.Description, maxDescriptionBytes)}
	a.size += jsonSize(shown) + size + len(`,"":,`) + len(parametersKey)
	shown[parametersKey] = parameters
	a.tools = append(a.tools, shown)
}

// note adds a sentence of ours. What it takes from elsewhere must be quoted.
func (a *found) note(text string) {
	a.notes = append(a.notes, text)
	a.size += len(text)
}

// names returns the names of the tools that were found.
func (a *found) names() []string {
	var names []string
	for _, t := range a.tools {
		names = append(names, t.(map[string]any)[nameKey].(string))
	}
	return append(names, a.more...)
}

// response returns the answer as the model reads it. It has only the types that JSON has.
func (a *found) response() map[string]any {
	notes := a.notes
	if len(a.more) > 0 {
		shown := make([]string, min(len(a.more), maxSelected))
		for i := range shown {
			shown[i] = shownName(a.more[i])
		}
		if rest := len(a.more) - len(shown); rest > 0 {
			shown = append(shown, fmt.Sprintf("and %d others", rest))
		}
		notes = append(notes, "There was no room for "+strings.Join(shown, ", ")+". Load them with "+selectPrefix+".")
	}
	out := map[string]any{toolsKey: a.tools}
	if a.tools == nil {
		out[toolsKey] = []any{}
	}
	if len(notes) > 0 {
		out[noteKey] = strings.Join(notes, " ")
	}
	return out
}

// shownParameters returns the parameters of a tool within some bytes, and their size. It shortens them step
// by step if they are larger, and then says so.
func shownParameters(decl *genai.FunctionDeclaration, most int) (parameters map[string]any, size int, note string) {
	name := shownName(decl.Name)
	schema, ok := parametersOf(decl)
	if !ok {
		return map[string]any{}, 0, "The parameters of " + name + " cannot be read."
	}
	if schema == nil {
		return map[string]any{"type": "object", "properties": map[string]any{}}, 0, ""
	}
	size = jsonSize(schema)
	if size <= most {
		return withoutMarks(schema).(map[string]any), size, ""
	}
	bare := withoutTexts(schema).(map[string]any)
	if n := jsonSize(bare); n <= most {
		return bare, n, fmt.Sprintf("The parameters of %s have %d bytes: their descriptions are left out.", name, size)
	}
	outline := outlineOf(schema)
	if n := jsonSize(outline); n <= most {
		return outline, n, fmt.Sprintf("The parameters of %s have %d bytes: only the names and types of the outer ones are shown.", name, size)
	}
	return map[string]any{}, 0, fmt.Sprintf("The parameters of %s have %d bytes and are left out.", name, size)
}

// jsonSize returns the length of a value in JSON.
func jsonSize(value any) int {
	data, err := json.Marshal(value)
	if err != nil {
		return maxAnswerBytes + 1
	}
	return len(data)
}
