package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// Error is what a server answered instead of a completion.
type Error struct {
	Status  int    // of HTTP
	Message string // the server's, or what is wrong with its answer
	Remedy  string // what to do; may be empty
}

// Error has the status, the message and the remedy.
func (e *Error) Error() string {
	text := fmt.Sprintf("the server answered with status %d: %s", e.Status, e.Message)
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// StatusCode is the status of HTTP, by which package budget tells an overflow from a failure.
func (e *Error) StatusCode() int { return e.Status }

// longestMessage bounds how much of a refusal is read, in bytes.
const longestMessage = 16 << 10

// refusal returns the error of a response that is no completion, nil for one that may be.
func refusal(resp *http.Response, endpoint string) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	page := kind == "text/html" || kind == "application/xhtml+xml"
	if resp.StatusCode/100 == 2 && !page {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, longestMessage))
	trimmed := strings.TrimSpace(string(text))
	if page || strings.HasPrefix(trimmed, "<") {
		return &Error{resp.StatusCode, "a web page instead of JSON", fmt.Sprintf("check the base URL, which normally ends in /v1: the request went to %s", endpoint)}
	}
	e := &Error{Status: resp.StatusCode, Message: messageOf(trimmed)}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Remedy = "check the key"
	case http.StatusNotFound:
		e.Remedy = fmt.Sprintf("check the base URL and the name of the model: the request went to %s", endpoint)
	case http.StatusTooManyRequests:
		e.Remedy = "wait, then try again"
	}
	return e
}

// messageOf finds the message in the forms in which servers write it.
func messageOf(text string) string {
	var body struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal([]byte(text), &body) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		var plain string
		switch {
		case json.Unmarshal(body.Error, &inner) == nil && inner.Message != "":
			return inner.Message
		case json.Unmarshal(body.Error, &plain) == nil && plain != "":
			return plain
		case body.Message != "":
			return body.Message
		case json.Unmarshal(body.Detail, &plain) == nil && plain != "":
			return plain
		}
	}
	if text == "" {
		return "no reason given"
	}
	if runes := []rune(text); len(runes) > 500 {
		text = string(runes[:500]) + "…"
	}
	return text
}
