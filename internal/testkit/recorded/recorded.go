// Package recorded reads real conversations for tests, from the folder that LONGSESSION_DATA names. Package
// replay/conversation reads whatever form a user has, and is of a module that this one cannot import.
package recorded

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/genai"
)

// Conversation is one line of a file.
type Conversation struct {
	ID          string
	Messages    []Message
	Compactions []Compaction
	QA          []struct{ Question string }
	Probing     []string `json:"probing_questions"`
}

// Message is a message as OpenAI has it. Its role is system, user, assistant or tool.
type Message struct {
	Role, Content, Name, Date string
	Reasoning                 string
	ToolCallID                string `json:"tool_call_id"`
	IsError                   bool   `json:"is_error"`
	ToolCalls                 []Call `json:"tool_calls"`
	Usage                     struct {
		PromptTokens int `json:"prompt_tokens"`
	}
}

// Call is a call of a tool.
type Call struct {
	ID       string
	Function struct{ Name, Arguments string }
}

// Compaction is a summary that the recorded application made before the message with that index.
type Compaction struct {
	Summary   string
	AtMessage int `json:"at_message"`
}

// Read returns the conversations of the files that match a pattern, in the order of their names. It skips the test
// without LONGSESSION_DATA.
func Read(t testing.TB, pattern string) []Conversation {
	t.Helper()
	folder := os.Getenv("LONGSESSION_DATA")
	if folder == "" {
		t.Skip("LONGSESSION_DATA is not set: no folder of real conversations")
	}
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s in %s: %v", pattern, folder, err)
	}
	var all []Conversation
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var c Conversation
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all = append(all, c)
		}
		if err := lines.Err(); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return all
}

// Args returns the arguments of a call. Those that are no object have the key "arguments".
func (c Call) Args() map[string]any {
	var args map[string]any
	if json.Unmarshal([]byte(c.Function.Arguments), &args) != nil {
		return map[string]any{"arguments": c.Function.Arguments}
	}
	return args
}

// Response returns the result of a tool as ADK would store it.
func (m Message) Response() map[string]any {
	if m.IsError {
		return map[string]any{"error": m.Content}
	}
	return map[string]any{"result": m.Content}
}

// LLM returns the message as a model sees it.
func (m Message) LLM() *genai.Content {
	if m.Role == "tool" {
		response := &genai.FunctionResponse{ID: m.ToolCallID, Name: m.Name, Response: m.Response()}
		return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: response}}}
	}
	c := &genai.Content{Role: genai.RoleModel}
	if m.Role == "user" {
		c.Role = genai.RoleUser
	}
	if m.Reasoning != "" {
		c.Parts = append(c.Parts, &genai.Part{Text: m.Reasoning, Thought: true})
	}
	if m.Content != "" {
		c.Parts = append(c.Parts, genai.NewPartFromText(m.Content))
	}
	for _, call := range m.ToolCalls {
		c.Parts = append(c.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: call.ID, Name: call.Function.Name, Args: call.Args()}})
	}
	return c
}
