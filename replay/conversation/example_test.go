package conversation_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// A Reader continues after a line that cannot be read. The error names the place and what was
// expected there.
func ExampleReader() {
	const file = `{"id": "oslo", "messages": [{"role": "user", "content": "Is it cold?"}, {"role": "assistant", "content": "Yes."}]}
{"id": "rome", "messages": [{"role": "human", "content": "Is it warm?"}]}
{"id": "bern", "contents": [{"role": "user", "parts": [{"text": "And in Bern?"}]}]}
`
	r := conversation.NewReader(strings.NewReader(file), "weather.jsonl")
	for {
		c, err := r.Next()
		var e *conversation.Error
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.As(err, &e):
			fmt.Printf("line %d, column %d: %s\n", e.Line, e.Column, e.Problem)
		case err != nil:
			fmt.Println("cannot read the file:", err)
			return
		default:
			fmt.Printf("%s: %d turn, %d messages\n", c.ID, len(c.Turns), c.Messages())
		}
	}
	// Output:
	// oslo: 1 turn, 2 messages
	// line 2, column 29: role "human" is unknown; expected system, developer, user, assistant, tool or function
	// bern: 1 turn, 1 messages
}
