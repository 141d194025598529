package chat

import "github.com/adk-go-ext/longsession/cmd/longsession/chat/internal/input"

// Attend has somebody type at a terminal, by a reader of the test.
func (c *Chat) Attend(r input.Reader) { c.reader, c.attended = r, true }
