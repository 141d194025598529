package budget

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrContextOverflow marks an error of a prompt that is longer than the model's context window. Every
// [*OverflowError] wraps it.
var ErrContextOverflow = errors.New("the prompt is longer than the model's context window")

// OverflowError is the error of a model call whose request cannot be made to fit. It is the only error
// of this package that a turn ends with. errors.Is finds [ErrContextOverflow] in it, and errors.As the
// provider's own error, if there is one.
type OverflowError struct {
	// Model is the model's name.
	Model string
	// Tokens is the size of the request when it was given up: an estimate, or the provider's own count
	// if its error has it.
	Tokens int
	// Window is the model's context window in tokens, and Reply the part of it that is reserved for
	// the reply. Window is 0 if it is not known.
	Window, Reply int
	// Largest are the largest parts of the request, largest first, at most five.
	Largest []Large
	// Tried is what was done to make the request smaller, in order: "rebuilt", "masked", "dropped",
	// "reply". It is empty if no step could make it smaller.
	Tried []string
	// Sent reports whether a provider has refused the request. If false, the request was not sent,
	// because one of its parts is larger than the window, or, going by the provider's counts of earlier
	// requests, all parts that must be sent are.
	Sent bool
	// Err is the provider's error, nil if the request was not sent.
	Err error
}

// Large is a large part of a request.
type Large struct {
	// What is the kind of part.
	What Component
	// Content is the index of the content in the request, -1 for the instruction and the tools.
	Content int
	// Name is the tool of a call, a result or a declaration, "" for the others.
	Name string
	// Tokens is the estimated size.
	Tokens int
}

// Component is a kind of part of a request: "system instruction", "tool declaration", "tool result", "tool call",
// "user message" or "model text". "tool declarations" are all of them together, where none is half of that.
type Component string

const (
	systemInstruction Component = "system instruction"
	toolDeclaration   Component = "tool declaration"
	toolDeclarations  Component = "tool declarations"
	toolResult        Component = "tool result"
	toolCall          Component = "tool call"
	userMessage       Component = "user message"
	modelText         Component = "model text"
)

// Remedy is a sentence about who can make the part smaller, and how.
func (l Large) Remedy() string {
	switch l.What {
	case systemInstruction:
		return "the app can shorten its instruction, or what its plugins and tools add to it"
	case toolDeclaration, toolDeclarations:
		return "the app can offer fewer tools, or shorten descriptions and schemas"
	case toolResult:
		return "the tool can return less, or toolresult.Config can limit it in PerTool"
	case toolCall:
		return "the model has written it; a tool that takes a path or a reference needs no long argument"
	case userMessage:
		return "the user can send less at once, or a file that a tool reads in parts"
	case modelText:
		return "the model has written it; a lower MaxOutputTokens keeps replies shorter"
	default:
		return ""
	}
}

// String names the part and its size, such as `tool result of "shell" (content 7): about 9,000 tokens`.
func (l Large) String() string {
	var b strings.Builder
	b.WriteString(string(l.What))
	if l.Name != "" {
		fmt.Fprintf(&b, " of %.60q", l.Name)
	}
	if l.Content >= 0 {
		fmt.Fprintf(&b, " (content %d)", l.Content)
	}
	fmt.Fprintf(&b, ": about %s tokens", grouped(l.Tokens))
	return b.String()
}

// Error has the size, the window, the largest part and its remedy, and the provider's error. If a provider has refused
// what should fit, it says so. It has no content of the request, except what the provider's error quotes.
func (e *OverflowError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: about %s tokens", ErrContextOverflow, grouped(e.Tokens))
	if e.Model != "" {
		fmt.Fprintf(&b, " for %.80s", e.Model)
	}
	if e.Window > 0 {
		fmt.Fprintf(&b, ", whose window is %s", grouped(e.Window))
		if e.Reply > 0 {
			fmt.Fprintf(&b, " including %s for the reply", grouped(e.Reply))
		}
	}
	if e.Sent && e.Window > 0 && e.Tokens <= e.Window-e.Reply {
		b.WriteString("; the provider counts more than is estimated, or its window is smaller (the app can set ContextWindow to what the provider takes)")
	}
	if len(e.Largest) > 0 {
		fmt.Fprintf(&b, "; largest is the %s", e.Largest[0])
		if remedy := e.Largest[0].Remedy(); remedy != "" {
			fmt.Fprintf(&b, " (%s)", remedy)
		}
	}
	if !e.Sent {
		b.WriteString("; the request was not sent, and the session goes on with the next message")
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns ErrContextOverflow and the provider's error.
func (e *OverflowError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrContextOverflow}
	}
	return []error{ErrContextOverflow, e.Err}
}

// grouped writes a number with commas, such as 12,345.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
