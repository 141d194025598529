package auditcmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

// activityCommand shows the block of text that an app shows about a session.
func (a *command) activityCommand() *cobra.Command {
	return newCommand("activity FILE.db [SESSION]", "Show what was done to keep a session short, and what it spent", a.onSession(func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
		found, err := audit.Prices{}.Activity(ctx, f, s)
		if err != nil {
			return err
		}
		return writeAll(out, []*audit.Activity{found}, func(found *audit.Activity) {
			out.printf("%s\n", found.Stats(time.Now()))
		})
	}))
}
