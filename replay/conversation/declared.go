package conversation

import (
	"google.golang.org/genai"
)

// readTools reads the tools that the model was offered. Each element of the list is a declaration or holds
// some. Other elements are left out: a recording without declarations can be played, too.
func (rec *recording) readTools(lists ...value) {
	for _, v := range lists {
		if !v.is('[') {
			continue
		}
		elements, err := v.list("tools")
		if err != nil {
			continue
		}
		for _, element := range elements {
			rec.readTool(element)
		}
	}
}

// readTool reads {"type": "function", "function": {...}}, {"functionDeclarations": [...]}, or a declaration.
func (rec *recording) readTool(v value) {
	fields, err := v.object("the tool")
	if err != nil {
		rec.unreadTool()
		return
	}
	switch {
	case fields["function"].is('{'):
		rec.declare(fields["function"])
	case fields["functiondeclarations"].is('['):
		elements, _ := fields["functiondeclarations"].list("functionDeclarations")
		for _, element := range elements {
			rec.declare(element)
		}
	default:
		rec.declare(v)
	}
}

// declare reads one declaration: a name, a description, and a schema under the name that each API gives it.
func (rec *recording) declare(v value) {
	fields, err := v.object("the declaration")
	if err != nil {
		rec.unreadTool()
		return
	}
	d := &genai.FunctionDeclaration{}
	if d.Name, err = fields["name"].text("name"); err != nil || d.Name == "" {
		rec.unreadTool()
		return
	}
	if d.Description, err = fields["description"].text("description"); err != nil {
		rec.unreadTool()
		return
	}
	for _, field := range []string{"parameters", "parametersjsonschema", "inputschema"} {
		if !fields[field].is('{') {
			continue
		}
		schema, err := fields[field].mapping(field)
		if err != nil {
			rec.unreadTool()
			return
		}
		d.ParametersJsonSchema = schema
		break
	}
	for _, known := range rec.tools {
		if known.Name == d.Name {
			rec.notes.add("tools declared twice, the first is used", 1)
			return
		}
	}
	rec.tools = append(rec.tools, d)
}

func (rec *recording) unreadTool() {
	rec.notes.add("tools without a declaration, left out", 1)
}
