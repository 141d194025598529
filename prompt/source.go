package prompt

import "context"

// Source fills a section of the prompt with text.
//
// The context is that of the agent's run. While an agent runs it also is an agent.ReadonlyContext, so a source
// can look up whose session it is. The text is sent to the model as it is: braces are no placeholders. An
// empty text leaves the section out.
//
// A source may be called by several goroutines at once. It should return the same text as long as nothing has
// changed: no clock, no counter, and maps in sorted order. An error, a panic or a call that takes too long
// costs no turn; the section keeps the last text that it had.
type Source interface {
	Text(ctx context.Context) (string, error)
}

// SourceFunc is a function as a [Source].
type SourceFunc func(ctx context.Context) (string, error)

// Text calls f.
func (f SourceFunc) Text(ctx context.Context) (string, error) { return f(ctx) }

// Text returns a source with a fixed text.
func Text(text string) Source { return fixed(text) }

// fixed is a source that never changes.
type fixed string

// Text returns the fixed text.
func (t fixed) Text(context.Context) (string, error) { return string(t), nil }
