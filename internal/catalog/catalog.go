package catalog

import (
	"embed"
	"encoding/json"
	"fmt"

	"google.golang.org/genai"
)

// Tool is the declaration of one tool, in the fields that MCP has.
type Tool struct {
	// Server is the name of the server that offers the tool, such as "github".
	Server string `json:"-"`
	// Name is unique among all tools.
	Name string `json:"name"`
	// Description is one or a few sentences in English.
	Description string `json:"description"`
	// Schema is the JSON Schema of the arguments: an object with properties.
	Schema map[string]any `json:"inputSchema"`
}

// Declaration returns the tool as ADK declares a tool of an MCP server. It shares the schema.
func (t Tool) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: t.Name, Description: t.Description, ParametersJsonSchema: t.Schema}
}

//go:embed servers/*.json
var files embed.FS

// Servers returns the names of the servers, in the order in which Tools has them.
func Servers() []string {
	return []string{"files", "git", "github", "slack", "jira", "kubernetes", "postgres", "calendar", "mail", "browser",
		"xcode", "cloud", "payments", "workspace", "monitoring"}
}

// Tools returns all 200 tools, server by server, always in the same order. The caller owns them: each call
// decodes the files again.
func Tools() []Tool {
	var all []Tool
	for _, server := range Servers() {
		all = append(all, Of(server)...)
	}
	return all
}

// Of returns the tools of one server, nil for a server that does not exist. The caller owns them.
func Of(server string) []Tool {
	data, err := files.ReadFile("servers/" + server + ".json")
	if err != nil {
		return nil
	}
	var tools []Tool
	if err := json.Unmarshal(data, &tools); err != nil {
		panic(fmt.Sprintf("catalog: %s.json: %v", server, err)) // the tests decode every file
	}
	for i := range tools {
		tools[i].Server = server
	}
	return tools
}
