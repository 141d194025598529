package conversation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// one reads the only conversation of a file named f. It puts the text on one line first.
func one(t *testing.T, text string) *conversation.Conversation {
	t.Helper()
	all, errs := readAll(strings.ReplaceAll(text, "\n", ""))
	if len(all) != 1 || len(errs) != 0 {
		t.Fatalf("%s\ngives %d conversations and %v", text, len(all), errs)
	}
	wellFormed(t, all[0])
	return all[0]
}

// readAll reads every conversation and error of a file named f.
func readAll(text string) (all []*conversation.Conversation, errs []error) {
	r := conversation.NewReader(strings.NewReader(text), "f")
	for {
		c, err := r.Next()
		switch {
		case err == io.EOF:
			return all, errs
		case err != nil:
			errs = append(errs, err)
		default:
			all = append(all, c)
		}
	}
}

// refused reads a file and returns the error of its first conversation.
func refused(t *testing.T, text string) *conversation.Error {
	t.Helper()
	c, err := conversation.NewReader(strings.NewReader(text), "f").Next()
	var e *conversation.Error
	if !errors.As(err, &e) {
		t.Fatalf("%s\ngives %v, %v; want an *Error", text, c, err)
	}
	if c != nil {
		t.Errorf("a conversation came with the error %v", err)
	}
	return e
}

// told renders a conversation for comparison, one short line per message: "U" for the user, "A" and
// its index for an answer, "R" for a response.
func told(c *conversation.Conversation) string {
	var b strings.Builder
	for _, turn := range c.Turns {
		fmt.Fprintf(&b, "U %s\n", said(turn.User.Parts))
		for _, s := range turn.Steps {
			fmt.Fprintf(&b, "A%d %s\n", s.Message, said(s.Answer.Parts))
			for _, r := range s.Responses {
				fmt.Fprintf(&b, "R %s %s %s\n", r.ID, r.Name, compact(r.Response))
			}
		}
	}
	return strings.TrimSpace(b.String())
}

func said(parts []*genai.Part) string {
	var out []string
	for _, p := range parts {
		switch {
		case p.Thought:
			out = append(out, "("+p.Text+")")
		case p.FunctionCall != nil:
			out = append(out, fmt.Sprintf("%s=%s%s", p.FunctionCall.ID, p.FunctionCall.Name, compact(p.FunctionCall.Args)))
		case p.InlineData != nil:
			out = append(out, fmt.Sprintf("<%s %s>", p.InlineData.MIMEType, p.InlineData.Data))
		case p.FileData != nil:
			out = append(out, fmt.Sprintf("<%s %s>", p.FileData.MIMEType, p.FileData.FileURI))
		default:
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, " | ")
}

func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// lines joins the lines that told renders.
func lines(text ...string) string { return strings.Join(text, "\n") }

// tale is a recording and its expected reading.
type tale struct {
	name, text, want string
	notes            []string
}

func check(t *testing.T, tales []tale) {
	t.Helper()
	for _, x := range tales {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			c := one(t, x.text)
			if got := told(c); got != x.want {
				t.Errorf("read as\n%s\nwant\n%s", got, x.want)
			}
			if fmt.Sprint(c.Notes) != fmt.Sprint(x.notes) {
				t.Errorf("notes %q, want %q", c.Notes, x.notes)
			}
		})
	}
}

const noResult = `{"error":"the recording has no result for this call"}`
