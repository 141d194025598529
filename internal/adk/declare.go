package adk

import (
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
)

// Declare puts a tool into a request, so that the model knows it and ADK runs it in this step. It
// reports whether the model can call the tool: it was put in, or the agent offers it already.
//
// It leaves a request as it is if that cannot take a function, or has another tool of that name:
//
//   - the response must be JSON, by a schema or the MIME type
//   - the request names cached content, which holds the declarations
//   - all tools are built-in ones of the model, such as search, which cannot be mixed with functions
//
// Call it for every request of an agent or for none: a declaration that comes and goes breaks the cached
// prefix.
func Declare(req *model.LLMRequest, t tool.Tool) bool {
	if req == nil || t == nil || !TakesFunction(req.Config) {
		return false
	}
	return AddTool(req, t)
}

// TakesFunction reports whether a function can be declared in a request with that config, nil included. The
// comment of Declare lists the cases in which none can.
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
		// The app may offer another instance, or one in a wrapper that asks for confirmation.
		same, ok := other.(tool.Tool)
		return ok && same.Description() == t.Description()
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
