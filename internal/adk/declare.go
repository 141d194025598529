package adk

import (
	"slices"
	"strings"
	"unicode"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
)

// Declare puts a tool into a request, so that the model knows it and ADK runs it in this step. It
// reports whether the model can call the tool: it was put in, or the agent offers it already.
//
// It leaves a request as it is if that does not take the tool (see [Takes]), and if the tool has a method
// NeededIn that returns false for the request: what has nothing to do costs nothing. NeededIn must go by what
// stays the same from one request of an agent to the next, or changes only together with an earlier part of
// the contents: a declaration that comes and goes breaks the cached prefix.
//
// Call it for every request of an agent or for none.
func Declare(req *model.LLMRequest, t tool.Tool) bool {
	if !Takes(req, t) {
		return false
	}
	if some, ok := t.(interface{ NeededIn(*model.LLMRequest) bool }); ok && req.Tools[t.Name()] == nil && !some.NeededIn(req) {
		return false
	}
	return AddTool(req, t)
}

// Takes reports whether a tool can be put into a request, or is there. It cannot if the request has another tool of
// that name, or can take no function:
//
//   - the response must be JSON, by a schema or the MIME type
//   - the request names cached content, which holds the declarations
//   - all tools are built-in ones of the model, such as search, which cannot be mixed with functions
func Takes(req *model.LLMRequest, t tool.Tool) bool {
	if req == nil || t == nil || !TakesFunction(req.Config) {
		return false
	}
	other, taken := req.Tools[t.Name()]
	return !taken || isSame(other, t)
}

// HasOther reports whether a request has another tool of the name of t: one that ADK runs, or a declaration that the app
// itself has written.
func HasOther(req *model.LLMRequest, t tool.Tool) bool {
	if req == nil {
		return false
	}
	if other, taken := req.Tools[t.Name()]; taken {
		return !isSame(other, t)
	}
	d := declared(req.Config, t.Name())
	return d != nil && d.Description != t.Description()
}

// Has reports whether a request declares a tool, and not another one of its name.
func Has(req *model.LLMRequest, t tool.Tool) bool {
	return req != nil && declared(req.Config, t.Name()) != nil && !HasOther(req, t)
}

// declared returns the declaration of a name, nil if there is none.
func declared(config *genai.GenerateContentConfig, name string) *genai.FunctionDeclaration {
	if config == nil {
		return nil
	}
	for _, of := range config.Tools {
		if of == nil {
			continue
		}
		for _, d := range of.FunctionDeclarations {
			if d != nil && d.Name == name {
				return d
			}
		}
	}
	return nil
}

// isSame reports whether an entry of a request is a tool. The app may offer another instance, or one in a wrapper that asks
// for confirmation.
func isSame(entry any, t tool.Tool) bool {
	other, ok := entry.(tool.Tool)
	return ok && other.Description() == t.Description()
}

// Instructs reports whether the system instruction of a request names a tool, as a word of its own.
func Instructs(req *model.LLMRequest, name string) bool {
	if req.Config == nil || req.Config.SystemInstruction == nil {
		return false
	}
	ofName := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for _, part := range req.Config.SystemInstruction.Parts {
		if part == nil {
			continue
		}
		for word := range strings.FieldsFuncSeq(part.Text, func(r rune) bool { return !ofName(r) }) {
			if word == name {
				return true
			}
		}
	}
	return false
}

// TakesFunction reports whether a function can be declared in a request with that config, nil included. The
// comment of Takes lists the cases in which none can.
func TakesFunction(config *genai.GenerateContentConfig) bool {
	if config == nil {
		return true
	}
	if config.ResponseSchema != nil || config.ResponseJsonSchema != nil || strings.HasPrefix(config.ResponseMIMEType, "application/json") ||
		config.CachedContent != "" {
		return false
	}
	builtIn := false
	for _, t := range config.Tools {
		if t == nil {
			continue
		}
		if t.FunctionDeclarations != nil {
			return true
		}
		builtIn = true
	}
	return !builtIn
}

// AddTool puts a tool into a request, unless it is there. It reports whether the request has it then.
func AddTool(req *model.LLMRequest, t tool.Tool) bool {
	name := t.Name()
	if other, taken := req.Tools[name]; taken {
		return isSame(other, t)
	}
	declarer, ok := t.(interface {
		Declaration() *genai.FunctionDeclaration
	})
	if !ok {
		return false
	}
	if req.Tools == nil {
		req.Tools = map[string]any{}
	}
	req.Tools[name] = t
	if req.Config == nil {
		req.Config = &genai.GenerateContentConfig{}
	}
	var functions *genai.Tool
	for _, declared := range req.Config.Tools {
		if declared == nil || declared.FunctionDeclarations == nil {
			continue
		}
		if slices.ContainsFunc(declared.FunctionDeclarations, func(d *genai.FunctionDeclaration) bool { return d != nil && d.Name == name }) {
			return true
		}
		if functions == nil {
			functions = declared
		}
	}
	if functions == nil {
		functions = &genai.Tool{}
		req.Config.Tools = append(slices.Clip(req.Config.Tools), functions)
	}
	functions.FunctionDeclarations = append(slices.Clip(functions.FunctionDeclarations), declarer.Declaration())
	return true
}
