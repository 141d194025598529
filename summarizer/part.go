package summarizer

import (
	"fmt"
	"strings"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/recalled"
)

// facet is one payload of a part: a verb phrase, already escaped, and a raw value.
type facet struct{ verb, value string }

// partLine renders one part as one line. If the part carries several payloads, which is unusual,
// they share the line.
func partLine(who string, p *genai.Part, longRunning, answered map[string]bool) line {
	switch facets := partFacets(p, longRunning, answered); len(facets) {
	case 0:
		return newLine(who+": ", noContent)
	case 1:
		return newLine(who+facets[0].verb+": ", orNothing(facets[0].value))
	default:
		var all []string
		for _, f := range facets {
			all = append(all, strings.TrimSpace(f.verb+": "+orNothing(f.value)))
		}
		return newLine(who+" (several in one): ", strings.Join(all, " | "))
	}
}

// partFacets returns the payloads of a part, in a fixed order.
func partFacets(p *genai.Part, longRunning, answered map[string]bool) []facet {
	var out []facet
	add := func(verb, value string) { out = append(out, facet{verb, value}) }
	if p.Text != "" {
		if p.Thought {
			add(" thinks", p.Text)
		} else {
			add("", p.Text)
		}
	}
	if c := p.FunctionCall; c != nil {
		verb := " calls " + label(c.Name, "an unnamed tool")
		switch {
		case c.ID == "":
		case longRunning[c.ID]:
			verb += " (long-running)"
		case !answered[c.ID]:
			verb += " (" + interrupted + ")"
		}
		add(verb, jsonOf(c.Args))
	}
	if r := p.FunctionResponse; r != nil {
		verb := " gets the result of " + label(r.Name, "an unnamed tool")
		ref, rest := refOf(r.Response)
		if ref != "" { // before the value, which may be cut
			verb += " (" + refKey + " " + ref + ")"
		}
		if line, ok := recalled.Line(r); ok {
			add(verb, line)
		} else {
			add(verb, responseValue(rest, r.Parts))
		}
	}
	if c := p.ToolCall; c != nil {
		add(" calls built-in tool "+label(string(c.ToolType), "unknown"), jsonOf(c.Args))
	}
	if r := p.ToolResponse; r != nil {
		add(" gets the result of built-in tool "+label(string(r.ToolType), "unknown"), jsonOf(r.Response))
	}
	if c := p.ExecutableCode; c != nil {
		add(" runs code in "+label(string(c.Language), "an unnamed language"), c.Code)
	}
	if r := p.CodeExecutionResult; r != nil {
		add(" gets the code's result "+label(string(r.Outcome), "without outcome"), r.Output)
	}
	if d := p.InlineData; d != nil {
		add(" attaches", attachment(d.MIMEType, d.DisplayName, len(d.Data)))
	}
	if d := p.FileData; d != nil {
		add(" attaches a file", file(d.MIMEType, d.DisplayName, d.FileURI))
	}
	return out
}

func responseValue(response map[string]any, parts []*genai.FunctionResponsePart) string {
	value := jsonOf(response)
	for _, p := range parts {
		if p == nil {
			continue
		}
		if d := p.InlineData; d != nil {
			value += "; attached: " + attachment(d.MIMEType, d.DisplayName, len(d.Data))
		}
		if d := p.FileData; d != nil {
			value += "; attached: " + file(d.MIMEType, d.DisplayName, d.FileURI)
		}
	}
	return value
}

func attachment(mime, name string, size int) string {
	s := fmt.Sprintf("%s, %d bytes", label(mime, "data of unknown type"), size)
	if name != "" {
		s += ", " + label(name, "")
	}
	return s
}

func file(mime, name, uri string) string {
	s := uri
	if blank(uri) {
		s = "no address"
	}
	s += ", " + label(mime, "unknown type")
	if name != "" {
		s += ", " + label(name, "")
	}
	return s
}
