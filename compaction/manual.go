package compaction

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/adk-go-ext/longsession/compaction/internal/compactor"
	"github.com/adk-go-ext/longsession/compaction/internal/job"
	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/record"
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
		return CompactResult{}, fmt.Errorf("compact: KeepRecent is %d: it must not be negative; 0 keeps the configured %d", opts.KeepRecent, s.overlap)
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
	j := job.Job{Trigger: record.TriggerManual, Focus: cleanText(opts.Focus), Pack: opts.Pack}
	if opts.KeepEvents > 0 {
		return s.byHand(ctx, ref, j, compactor.KeepEvents(opts.KeepEvents))
	}
	return s.byHand(ctx, ref, j, compactor.KeepInvocations(cmp.Or(opts.KeepRecent, s.overlap)))
}

// Checkpoint summarizes a finished task, as Compact does but with the prompt and the framing of a
// checkpoint: what was done, what is known, and where things stand. It stores its record at once, at
// the same risk as Compact.
func (s *CompactionSessionService) Checkpoint(ctx context.Context, ref SessionRef, opts CheckpointOptions) (CompactResult, error) {
	if opts.KeepRecent < 0 {
		return CompactResult{}, fmt.Errorf("checkpoint: KeepRecent is %d: it must not be negative; 0 keeps 1", opts.KeepRecent)
	}
	j := job.Job{Trigger: record.TriggerCheckpoint, Kind: record.KindCheckpoint, Note: cleanText(opts.Note)}
	return s.byHand(ctx, ref, j, compactor.KeepInvocations(cmp.Or(opts.KeepRecent, 1)))
}

// byHand has the engine compact, and translates what that did.
func (s *CompactionSessionService) byHand(ctx context.Context, ref SessionRef, j job.Job, choose compactor.Choice) (CompactResult, error) {
	did, err := s.engine.ByHand(ctx, sessions.Ref(ref), j, choose)
	result := CompactResult{
		BeforeTokens: did.Before.Tokens, AfterTokens: did.After.Tokens,
		BeforeEvents: did.Before.Events, AfterEvents: did.After.Events,
		TokensSaved: did.Before.Tokens - did.After.Tokens,
		RecordID:    did.RecordID, Summary: did.Summary, Skipped: did.Skipped, Reason: did.Reason,
	}
	if did.After.Tokens > 0 {
		result.CompressionRatio = float64(did.Before.Tokens) / float64(did.After.Tokens)
	}
	return result, err
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
