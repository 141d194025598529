package summarizer_test

import (
	"google.golang.org/adk/session"
	"google.golang.org/genai"
)

// event returns an event with the given author, role and parts. Tool responses have the role
// "user". Unlike the events of compactiontest.History, it has no ID and no time, because
// transcripts show neither.
func event(author, role string, parts ...*genai.Part) *session.Event {
	ev := &session.Event{Author: author}
	ev.Content = &genai.Content{Role: role, Parts: parts}
	return ev
}

func user(text string) *session.Event  { return event("user", "user", &genai.Part{Text: text}) }
func agent(text string) *session.Event { return event("agent", "model", &genai.Part{Text: text}) }

func call(id, name string, args map[string]any) *session.Event {
	return event("agent", "model", &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: name, Args: args}})
}

func response(id, name string, result map[string]any) *session.Event {
	return event("agent", "user", &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name, Response: result}})
}

func events(evs ...*session.Event) []*session.Event { return evs }
