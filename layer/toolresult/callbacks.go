package toolresult

import (
	"fmt"
	"log/slog"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// ownerOf returns the session of a callback or a tool's call.
func ownerOf(ctx agent.ReadonlyContext) store.Owner {
	return store.Owner{AppName: ctx.AppName(), UserID: ctx.UserID(), SessionID: ctx.SessionID()}
}

// orDefaultLogger returns logger, or if nil the logger that is the default at this time.
func orDefaultLogger(logger *slog.Logger) *slog.Logger {
	if logger == nil {
		return slog.Default()
	}
	return logger
}

// panicked returns a recovered panic as an error.
func panicked(p any) error { return fmt.Errorf("panic: %v", p) }
