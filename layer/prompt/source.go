package prompt

import "context"

// Source fills a section of the prompt with text.
//
// The context ends with the run, or when the source has taken too long. While an agent runs, it is an
// agent.ReadonlyContext, so that a source can look up whose session it is. The name of the agent in it means
// little: all agents of a run share the sections, and the first of them has the source asked.
//
// Braces in the text are no placeholders. It is sent to the model as it is, but for bytes that are no UTF-8,
// which are replaced, and line ends around it, which are left out. A blank text leaves the section out. If Text
// returns a text and an error, the text is used and the error reported.
//
// A source may be called by several goroutines at once. It should return the same text as long as nothing has
// changed: no clock, no counter, and maps in sorted order. A source that returns only an error, panics, takes
// too long, or returns more than 1 MiB costs no turn; the section keeps the last text that it had in the
// session. A source that hangs in a session is not called again there until it has returned, and one that hangs
// in 256 sessions is not called at all.
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
