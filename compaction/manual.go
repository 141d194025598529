package compaction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/compaction/internal/queue"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
	"github.com/adk-go-ext/longsession/summarizer"
)

// CompactOptions say how to compact by hand. The zero value keeps Config.OverlapSize invocations raw.
type CompactOptions struct {
	// Focus biases the summary, in a person's words.
	Focus string
	// KeepRecent is how many of the newest complete invocations stay raw; 0 keeps Config.OverlapSize.
	KeepRecent int
	// KeepEvents, if not 0, is how many of the newest events of a branch stay raw instead, whatever
	// invocation they belong to: for agents whose turns are long by themselves. Also the finished tool
	// rounds of a turn that is still running are summarized then. Not together with KeepRecent.
	KeepEvents int
	// Pack is the wording of the prompt for this summary: "" for the configured one. A Summarizer of one's
	// own finds it in the request; the extractive one has no prompt, so it changes nothing there.
	Pack summarizer.Pack
}

// CheckpointOptions say how to write a checkpoint. The zero value keeps one invocation raw.
type CheckpointOptions struct {
	// Note says what was finished, in a person's or the agent's words.
	Note string
	// KeepRecent is how many of the newest complete invocations stay raw; 0 keeps 1, the one that
	// finished the task.
	KeepRecent int
}

// CompactResult says what a compaction by hand did to the view. Tokens are estimates of the whole
// view, all branches together.
type CompactResult struct {
	BeforeTokens, AfterTokens int
	BeforeEvents, AfterEvents int
	// TokensSaved is BeforeTokens less AfterTokens, and CompressionRatio BeforeTokens for each of
	// AfterTokens: 1 if Skipped, 0 for an empty view.
	TokensSaved      int
	CompressionRatio float64
	// RecordID and Summary are of the newest record written; "" if Skipped.
	RecordID, Summary string
	// Skipped says that nothing was written, and Reason why.
	Skipped bool
	Reason  string
}

// Compact summarizes now whatever is complete and not recent (or, with KeepEvents, not new), whether a trigger is due or not and
// whether automatic triggers are on or not. What one call of the summarizer cannot read is done in
// several. It waits for a job under way. Having nothing to do is not an error. Control characters in
// the focus are left out.
//
// The records are stored at once, those that wait for the session's next append among them. Over an
// inner service that is no [RecordAppender], this can cost another process that is in a turn on the
// session at that moment its state or its turn: call it where only this process uses the session.
//
// Errors: the inner service's (session.ErrNotFound), the context's, and one wrapping [ErrCompaction]
// if a summary could not be written or stored; what was stored before that stays.
func (s *CompactionSessionService) Compact(ctx context.Context, ref SessionRef, opts CompactOptions) (CompactResult, error) {
	if opts.KeepRecent < 0 {
		return CompactResult{}, fmt.Errorf("compact: KeepRecent is %d: it must not be negative; 0 keeps the configured %d", opts.KeepRecent, s.policy.OverlapSize)
	}
	if opts.KeepEvents < 0 {
		return CompactResult{}, fmt.Errorf("compact: KeepEvents is %d: it must not be negative; 0 keeps invocations", opts.KeepEvents)
	}
	if opts.KeepEvents > 0 && opts.KeepRecent > 0 {
		return CompactResult{}, fmt.Errorf("compact: KeepRecent is %d and KeepEvents %d: set one of them", opts.KeepRecent, opts.KeepEvents)
	}
	if opts.Pack != "" && !opts.Pack.Known() {
		return CompactResult{}, fmt.Errorf("compact: Pack is %.40q: use one of the Pack constants of package summarizer, or \"\" for the configured one", string(opts.Pack))
	}
	t := task{byHand: true, trigger: record.TriggerManual, focus: cleanText(opts.Focus), pack: opts.Pack}
	if opts.KeepEvents > 0 {
		return s.byHand(ctx, ref, t, newestEvents(opts.KeepEvents))
	}
	return s.byHand(ctx, ref, t, newestInvocations(orDefault(opts.KeepRecent, s.policy.OverlapSize)))
}

// Checkpoint summarizes a finished task, as Compact does but with the prompt and the framing of a
// checkpoint: what was done, what is known, and where things stand. It stores its record at once, at
// the same risk as Compact.
func (s *CompactionSessionService) Checkpoint(ctx context.Context, ref SessionRef, opts CheckpointOptions) (CompactResult, error) {
	if opts.KeepRecent < 0 {
		return CompactResult{}, fmt.Errorf("checkpoint: KeepRecent is %d: it must not be negative; 0 keeps 1", opts.KeepRecent)
	}
	t := task{byHand: true, trigger: record.TriggerCheckpoint, kind: record.KindCheckpoint, note: cleanText(opts.Note)}
	return s.byHand(ctx, ref, t, newestInvocations(orDefault(opts.KeepRecent, 1)))
}

// cleanText returns a person's words without what storage cannot keep: PostgreSQL refuses a NUL in
// JSON, and a record that is refused would be lost. Other control characters but line breaks and tabs
// go too, and broken UTF-8 becomes U+FFFD.
func cleanText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// choice selects what a person has asked to be summarized.
type choice func(h selector.Input, p selector.Params, branch string) selector.Selection

func newestInvocations(keep int) choice {
	return func(h selector.Input, p selector.Params, branch string) selector.Selection {
		return selector.Manual(h, p, branch, keep)
	}
}

func newestEvents(keep int) choice {
	return func(h selector.Input, p selector.Params, branch string) selector.Selection {
		p.Retain = keep
		return selector.Tokens(h, p, branch)
	}
}

func orDefault(value, fallback int) int {
	if value == 0 {
		return fallback
	}
	return value
}

func (s *CompactionSessionService) byHand(ctx context.Context, ref SessionRef, t task, choose choice) (result CompactResult, err error) {
	st := s.states.of(ref)
	err = queue.ByHand(ctx, s.queue, st.line, func() error {
		result, err = s.compactNow(ctx, st, t, choose)
		return err
	})
	if errors.Is(err, queue.ErrClosed) {
		err = failure(err)
	}
	return result, err
}

// compactNow is byHand for a caller that holds the session's slot.
func (s *CompactionSessionService) compactNow(ctx context.Context, st *sessionState, t task, choose choice) (result CompactResult, err error) {
	h, err := s.handleOf(ctx, st.ref)
	if err != nil {
		return result, err
	}
	defer s.remember(st)
	defer func() {
		if cause := recover(); cause != nil {
			err = failure(fmt.Errorf("%w: %v", errPanicked, cause))
			s.fail(ctx, st, t, err)
		}
	}()
	s.reportUnreadable(ctx, h)

	defer func() { result.compare() }()
	result.BeforeTokens, result.BeforeEvents = s.extent(h)
	result.Skipped = true
	if !s.storeLeftovers(ctx, h, t) {
		result.AfterTokens, result.AfterEvents = result.BeforeTokens, result.BeforeEvents
		return result, cmp.Or(ctx.Err(), st.learned.Attempts.Status().Err)
	}
	tried := false
	for _, branch := range meter.BranchesOf(h.view.Events().Slice()) {
		attempted, failed := s.compactBranch(ctx, h, t, branch, choose, &result)
		tried = tried || attempted
		if err = failed; err != nil {
			break
		}
	}
	if !tried {
		s.decline(ctx, st, t, selector.Selection{}, result.Reason)
	}
	result.AfterTokens, result.AfterEvents = s.extent(h)
	return result, err
}

// compare fills in what follows from the numbers before and after.
func (r *CompactResult) compare() {
	r.TokensSaved = r.BeforeTokens - r.AfterTokens
	if r.AfterTokens > 0 {
		r.CompressionRatio = float64(r.BeforeTokens) / float64(r.AfterTokens)
	}
}

// compactBranch writes one window of a branch after the other until none is left. It reports whether
// there was any.
func (s *CompactionSessionService) compactBranch(ctx context.Context, h *handle, t task, branch string, choose choice, result *CompactResult) (tried bool, err error) {
	c := &compactor{CompactionSessionService: s, h: h, task: t}
	for range maxSteps {
		if c.chosen == nil {
			now := c.snapshot()
			now.params.MinTokens = leastWindow // a person asked: try again
			window := choose(now.input, now.params, branch)
			if window.Empty() {
				if result.Skipped && result.Reason == "" {
					result.Reason = string(window.Reason)
				}
				return tried, nil
			}
			tried = true
			c.chosen = &candidate{Relief: selector.Relief{Selection: window}, trigger: t.trigger}
		}
		next := plan(c.snapshot())
		switch got, d := c.write(ctx, next); got {
		case written:
			if next.makesRoom {
				continue
			}
			c.chosen = nil
			result.Skipped, result.Reason = false, ""
			result.RecordID, result.Summary = d.meta.RecordID, d.text
		case failed:
			return tried, h.state.learned.Attempts.Status().Err
		default:
			if result.Skipped {
				result.Reason = h.state.learned.Attempts.Status().Reason
			}
			return tried, nil
		}
	}
	return tried, nil
}

// extent is how much the view holds: tokens, estimated, and events.
func (s *CompactionSessionService) extent(h *handle) (tokens, events int) {
	h.catchUp()
	for ev := range h.view.Events().All() {
		tokens += promptsize.OfEvent(ev)
		events++
	}
	return tokens, events
}

// handleOf reads a session into a handle of its own.
func (s *CompactionSessionService) handleOf(ctx context.Context, ref SessionRef) (*handle, error) {
	resp, err := s.Get(ctx, ref.request())
	if err != nil {
		return nil, err
	}
	if resp == nil || resp.Session == nil {
		return nil, fmt.Errorf("inner service returned no session for %q: %w", ref.SessionID, session.ErrNotFound)
	}
	_, h := s.peel(resp.Session)
	return h, nil
}

// tryHandleOf is handleOf for those who have nobody to tell an error.
func (s *CompactionSessionService) tryHandleOf(ctx context.Context, ref SessionRef) *handle {
	h, err := s.handleOf(ctx, ref)
	if err != nil {
		return nil
	}
	return h
}
