package chat

import (
	"context"
	"io"

	"github.com/adk-go-ext/longsession/chat/internal/slash"
	"github.com/adk-go-ext/longsession/compaction"
)

// Chat is one conversation.
type Chat struct {
	cfg Config
	ref compaction.SessionRef // the session that is talked in now
}

// command is a slash command and its work. run writes to w what the person sees. Its error is shown to them, and the
// chat goes on.
type command struct {
	slash.Command
	run func(ctx context.Context, c *Chat, args string, w io.Writer) error
}
