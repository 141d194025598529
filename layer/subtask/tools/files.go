package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
)

// The names of the tools.
const (
	ReadFileName = "read_file"
	ListDirName  = "list_dir"
	GlobName     = "glob"
	GrepName     = "grep"
	FetchURLName = "fetch_url"
)

// Files is the tools over one folder. It is safe for concurrent use.
type Files struct {
	cfg   FilesConfig
	root  *os.Root
	real  string // cfg.Root without links
	slow  error  // why a call ends that takes too long
	tools []tool.Tool
}

// NewFiles opens the root and returns the tools over it. The error joins a [*ConfigError] for every value that
// is refused. Call Close when no agent uses the tools any more.
func NewFiles(cfg FilesConfig) (*Files, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("tools config: %w", &ConfigError{Field: "Root", Value: cfg.Root, Reason: fmt.Sprintf("it cannot be opened: %v", reasonOf(err))})
	}
	f := &Files{cfg: cfg, root: root, real: cfg.Root, slow: fmt.Errorf("it takes longer than %v", cfg.Timeout)}
	if real, err := filepath.EvalSymlinks(cfg.Root); err == nil {
		f.real = real
	}
	if err := f.define(); err != nil {
		root.Close()
		return nil, err
	}
	return f, nil
}

// define makes the tools.
func (f *Files) define() error {
	read, err := define(ReadFileName, readFileDescription, timed(f, f.readFile))
	if err != nil {
		return err
	}
	list, err := define(ListDirName, listDirDescription, timed(f, f.listDir))
	if err != nil {
		return err
	}
	glob, err := define(GlobName, globDescription, timed(f, f.glob))
	if err != nil {
		return err
	}
	grep, err := define(GrepName, grepDescription, timed(f, f.grep))
	if err != nil {
		return err
	}
	f.tools = []tool.Tool{read, list, glob, grep}
	return nil
}

// Tools returns read_file, list_dir, glob and grep.
func (f *Files) Tools() []tool.Tool { return append([]tool.Tool(nil), f.tools...) }

// Close closes the root. Calls of the tools then answer that it is closed.
func (f *Files) Close() error { return f.root.Close() }

// timed bounds the time of a handler. Its context then ends with f.slow.
func timed[A, R any](f *Files, handler func(context.Context, A) (R, error)) func(context.Context, A) (R, error) {
	return func(ctx context.Context, args A) (R, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, f.cfg.Timeout, f.slow)
		defer cancel()
		return handler(ctx, args)
	}
}

// late reports whether a call has used up its own time, rather than that of its caller.
func (f *Files) late(ctx context.Context) bool { return errors.Is(context.Cause(ctx), f.slow) }

// failure is the part of every result that says why there is none.
type failure struct {
	Error string `json:"error,omitempty" jsonschema:"why it could not be done"`
}

func (f *failure) fail(err error) { f.Error = err.Error() }

// define makes a function tool. An error of the handler becomes a result: a model can act on it, and no callback
// of the app takes it for a defect of the tool.
func define[A, R any, P interface {
	*R
	fail(error)
}](name, description string, handler func(context.Context, A) (R, error)) (tool.Tool, error) {
	made, err := functiontool.New(functiontool.Config{Name: name, Description: description},
		func(ctx agent.ToolContext, args A) (R, error) {
			result, err := handler(ctx, args)
			if err != nil {
				P(&result).fail(err)
			}
			return result, nil
		})
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", name, err)
	}
	return made, nil
}
