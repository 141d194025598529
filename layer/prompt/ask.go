package prompt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/hanging"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// maxText is the longest text of a source, in bytes. No section should come near it; it keeps a mistake in a
// source from filling the window of every request.
const maxText = 1 << 20

// memory is what a builder remembers of the sources in a session.
type memory struct {
	mu       sync.Mutex
	good     [numSources]string // the last text of each source that worked
	problems [numSources]string // what was reported last about each, "" if it works
}

// shared is the text that a source returned last, in any session. Sessions that have the same text share its
// memory.
type shared struct{ text atomic.Pointer[string] }

func (s *shared) intern(text string) string {
	if known := s.text.Load(); known != nil && *known == text {
		return *known
	}
	s.text.Store(&text)
	return text
}

// answer is what a source has returned.
type answer struct {
	text string
	err  error
}

// fill asks sources, all at once, and sets the texts of their sections. The first text is that of the source
// at place from.
func (b *Builder) fill(ctx agent.ReadonlyContext, who caller, texts []string, from int) {
	b.fillIn(ctx, ctx, who, texts, from)
}

// fillIn is fill for a context that need not be that of a run. read is nil outside of one.
func (b *Builder) fillIn(ctx context.Context, read agent.ReadonlyContext, who caller, texts []string, from int) {
	var wg sync.WaitGroup
	for i := range texts {
		switch source := b.sources[from+i].(type) {
		case nil:
		case fixed:
			texts[i] = string(source)
		default:
			wg.Go(func() { texts[i] = b.textOf(ctx, read, who, from+i) })
		}
	}
	wg.Wait()
	for i, text := range texts {
		if texts[i] = strings.Trim(text, "\r\n"); blank(text) {
			texts[i] = ""
		}
	}
}

// textOf returns the text of a section: that of its source or, if that has failed, the last one that it had in
// the session. The scratchpad and the status are about this very moment, so they are left out instead.
func (b *Builder) textOf(ctx context.Context, read agent.ReadonlyContext, who caller, source int) string {
	got := b.ask(ctx, read, who, source)
	m := b.memoryOf(who.owner)
	m.mu.Lock()
	defer m.mu.Unlock()
	o := who.observation(Failed)
	o.Section, o.Err = sectionNames[source], got.err
	switch {
	case got.err == nil:
		o.Kind = Recovered
	case got.text != "", errors.Is(got.err, ErrUntrusted): // what is not trusted anymore must not be kept
		o.Kind = Incomplete
	case ctx.Err() != nil:
		return m.kept(source) // the run has ended, and this is no fault of the source
	default:
		o.Kept = m.kept(source) != ""
	}
	if problem := problemOf(o.Kind, got.err); problem != m.problems[source] {
		m.problems[source] = problem
		b.observe(ctx, o)
	}
	if o.Kind == Failed {
		return m.kept(source)
	}
	m.good[source] = b.latest[source].intern(got.text)
	return m.good[source]
}

// problemOf is what an error has to do with the one before it: those of one problem are reported once.
func problemOf(kind Kind, err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, hanging.Err) || errors.Is(err, context.DeadlineExceeded):
		return "too slow" // it may be given up, give up itself, or still hang from an earlier run
	}
	return string(kind) + err.Error()
}

// kept is the text of a section whose source has failed.
func (m *memory) kept(source int) string {
	if source >= stable {
		return ""
	}
	return m.good[source]
}

// memoryOf returns what is remembered of a session. Nothing is remembered outside of sessions.
func (b *Builder) memoryOf(owner store.Owner) *memory {
	if m, known := b.sessions.Get(owner); known {
		return m
	}
	m := &memory{}
	if owner == (store.Owner{}) {
		return m
	}
	if other, known, _ := b.sessions.PeekOrAdd(owner, m); known {
		return other
	}
	return m
}

// ask calls a source, and survives whatever it does.
func (b *Builder) ask(ctx context.Context, read agent.ReadonlyContext, who caller, source int) answer {
	got := &answer{}
	err := b.hanging[source].Run(ctx, b.cfg.SourceTimeout, who.owner, func(ctx context.Context) error {
		if read != nil {
			ctx = readContext{read, ctx}
		}
		text, err := b.sources[source].Text(ctx)
		if err != nil && blank(text) && !errors.Is(err, ErrUntrusted) {
			return err
		}
		if len(text) > maxText {
			return fmt.Errorf("its text has %d bytes; at most %d are used", len(text), maxText)
		}
		got.text, got.err = strings.ToValidUTF8(text, "\uFFFD"), err
		return nil
	})
	if err != nil {
		return answer{err: fmt.Errorf("source of section %s: %w", sectionNames[source], err)}
	}
	if got.err != nil {
		got.err = fmt.Errorf("source of section %s: %w", sectionNames[source], got.err)
	}
	return *got
}

// readContext is what a source may see of a run, with a deadline of its own.
type readContext struct {
	agent.ReadonlyContext
	ctx context.Context
}

func (c readContext) Deadline() (time.Time, bool) { return c.ctx.Deadline() }
func (c readContext) Done() <-chan struct{}       { return c.ctx.Done() }
func (c readContext) Err() error                  { return c.ctx.Err() }
func (c readContext) Value(key any) any           { return c.ctx.Value(key) }

// runContext is an invocation as an agent.ReadonlyContext.
type runContext struct{ agent.InvocationContext }

func (c runContext) AppName() string   { return c.Session().AppName() }
func (c runContext) UserID() string    { return c.Session().UserID() }
func (c runContext) SessionID() string { return c.Session().ID() }

// AgentName returns the name of the agent, "" if there is none yet.
func (c runContext) AgentName() string {
	if adk.IsNil(c.Agent()) {
		return ""
	}
	return c.Agent().Name()
}

// ReadonlyState returns the state of the session.
func (c runContext) ReadonlyState() session.ReadonlyState { return c.Session().State() }
