// Package runnerconfig reaches the settings of a runner that something else makes: package replay makes one, and what it
// is compared with may be a setting of ADK's runner.
package runnerconfig

import (
	"context"

	"google.golang.org/adk/runner"
)

type key struct{}

// With returns a context in which [Change] calls change, unless it is nil.
func With(ctx context.Context, change func(*runner.Config)) context.Context {
	if change == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, change)
}

// Change changes a runner's settings as the context says, if it does.
func Change(ctx context.Context, cfg *runner.Config) {
	if change, ok := ctx.Value(key{}).(func(*runner.Config)); ok {
		change(cfg)
	}
}
