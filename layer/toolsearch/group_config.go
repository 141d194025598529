package toolsearch

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
)

// GroupConfig configures a [Grouped] toolset. Category and Toolset are required.
type GroupConfig struct {
	// Category is that of every tool of Toolset.
	Category Category
	// Toolset has the tools. If its tools must be confirmed, put [tool.WithConfirmation] around it here.
	Toolset tool.Toolset
	// Timeout is how long a run waits for the list of tools. 0 means 10 s: a server that a package manager
	// fetches first takes some seconds. A call that takes longer goes on in the background, for at most ten
	// times as long; then its context is canceled. Until it ends, runs use the last good list at once.
	Timeout time.Duration
	// CallTimeout is how long one call of a tool may take. 0 means 10 minutes, as in gemini-cli. The model
	// receives an error in place of a result, and the turn goes on. Off (-1) waits as long as the tool does.
	CallTimeout time.Duration
	// Scope returns who shares a list. If nil, there is one list for everybody, so the last good list
	// of one user may be the tools of another. Set it if the list depends on the context, for example
	// to func(ctx agent.ReadonlyContext) string { return ctx.UserID() }, or put [tool.FilterToolset]
	// around the group. At most 1,024 lists are kept. The function must be safe for concurrent use.
	Scope func(ctx agent.ReadonlyContext) string
	// Observer hears of a toolset that fails, and that works again. If nil, nothing is reported but to Logger.
	Observer func(ctx context.Context, o Observation)
	// Logger gets a line when a toolset fails (Warn), and when it works again (Info). If nil,
	// slog.Default() at that time is used.
	Logger *slog.Logger
}

// Defaults of [GroupConfig].
const (
	defaultListTimeout = 10 * time.Second
	defaultCallTimeout = 10 * time.Minute // gemini-cli: mcpServers.timeout is 600,000 ms
	listPatience       = 10               // times Timeout, until a call for the list is canceled
)

func (c GroupConfig) withDefaults() GroupConfig {
	if c.Timeout == 0 {
		c.Timeout = defaultListTimeout
	}
	if c.CallTimeout == 0 {
		c.CallTimeout = defaultCallTimeout
	}
	return c
}

// check returns the joined problems of the config.
func (c *GroupConfig) check() error {
	var p configerr.Problems
	switch c.Category {
	case MCP, Skill, BuiltIn:
	default:
		p.Refuse("Category", c.Category, "it must be %q, %q or %q", MCP, Skill, BuiltIn)
	}
	if adk.IsNil(c.Toolset) {
		p.Refuse("Toolset", nil, "set the toolset whose tools are grouped")
	}
	if c.Timeout < 0 {
		p.Refuse("Timeout", c.Timeout, "it must not be negative; 0 is 10 s")
	}
	if c.CallTimeout < Off {
		p.Refuse("CallTimeout", c.CallTimeout, "it must not be negative; Off (-1) waits as long as the tool does")
	}
	return p.Join("toolsearch group")
}
