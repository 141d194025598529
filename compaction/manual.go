package compaction

import (
	"cmp"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/compaction/internal/compactor"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// maxWords is how long CompactOptions.Focus and CheckpointOptions.Note may be, in characters. Each summarizer call has
// them in its prompt, and the record keeps them for good.
const maxWords = 4000

// tooLong refuses words that are longer than MaxWords.
func tooLong(what, words string) error {
	if n := utf8.RuneCountInString(words); n > maxWords {
		return fmt.Errorf("%s has %d characters and may have %d; shorten it: it begins with %.40q", what, n, maxWords, words)
	}
	return nil
}

// CompactOptions are the options of [CompactionSessionService.Compact]. The zero value keeps
// Config.OverlapSize invocations raw.
type CompactOptions struct {
	// Focus biases the summary, in a person's words: at most 4,000 characters. Control characters are removed.
	Focus string
	// KeepRecent is how many of the newest complete invocations stay raw. 0 keeps
	// Config.OverlapSize.
	KeepRecent int
	// KeepEvents, if not 0, is how many of the newest events of a branch stay raw, whatever
	// invocation they belong to. It is for agents with long turns: the finished tool rounds of a
	// running turn are then summarized too. It cannot be combined with KeepRecent.
	KeepEvents int
	// Pack selects the wording of the prompt for this summary, "" the configured one. A custom
	// Summarizer finds it in its request. The extractive summarizer has no prompt and ignores it.
	Pack summarizer.Pack
}

// CheckpointOptions are the options of [CompactionSessionService.Checkpoint]. The zero value keeps
// one invocation raw.
type CheckpointOptions struct {
	// Note describes what was finished, in a person's or the agent's words: at most 4,000 characters. Control
	// characters are removed.
	Note string
	// KeepRecent is how many of the newest complete invocations stay raw. 0 keeps 1, the one that
	// finished the task.
	KeepRecent int
}

// CompactResult describes what a compaction by hand did to the view. Tokens are estimates for the
// whole view, all branches together.
type CompactResult struct {
	BeforeTokens, AfterTokens int
	BeforeEvents, AfterEvents int
	// TokensSaved is BeforeTokens - AfterTokens. CompressionRatio is BeforeTokens / AfterTokens: 1
	// if Skipped, 0 for an empty view.
	TokensSaved      int
	CompressionRatio float64
	// RecordID and Summary belong to the newest record that was written. Both are "" if Skipped.
	RecordID, Summary string
	// Skipped means that nothing was written. Reason is why.
	Skipped bool
	Reason  string
	// StrategiesRun names what made the view shorter: "summarized" if events or summaries were
	// summarized, and "truncated" if a summary was too long for its place and was cut. It is nil if
	// Skipped.
	StrategiesRun []string
}

// The values of CompactResult.StrategiesRun, in the order in which they are tried.
const (
	strategySummarized = "summarized" // events or summaries were summarized
	strategyTruncated  = "truncated"  // a summary was cut
)

// Compact summarizes all complete invocations except the newest, or with KeepEvents all events
// except the newest. It does so whether or not a trigger is due, and even if automatic triggers are
// off. It waits for a job that is under way, and calls the summarizer several times if one call
// cannot read everything. If there is nothing to summarize, the result is Skipped, without an
// error.
//
// Compact stores its records at once, after the records that wait for the session's next append. If
// the inner service is not a [RecordAppender], and another process is in a turn on the session at
// that moment, that process can lose state or its turn. In that case call Compact only where no
// other process uses the session.
//
// Errors are the inner service's (ErrNotFound), the context's, and errors that wrap
// [ErrCompaction] if a summary could not be written or stored. Records that were stored before an
// error stay stored.
func (s *CompactionSessionService) Compact(ctx context.Context, ref SessionRef, opts CompactOptions) (CompactResult, error) {
	if opts.KeepRecent < 0 {
		return CompactResult{}, fmt.Errorf("compact: KeepRecent is %d: it must not be negative; 0 keeps the configured %d", opts.KeepRecent, s.settings.OverlapSize)
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
	if err := tooLong("compact: Focus", opts.Focus); err != nil {
		return CompactResult{}, err
	}
	j := writer.Job{Trigger: record.TriggerManual, Focus: writer.CleanText(opts.Focus), Pack: opts.Pack}
	result, err := s.engine.ByHand(ctx, ref, j, compactor.Keep{Events: opts.KeepEvents, Invocations: cmp.Or(opts.KeepRecent, s.settings.OverlapSize)})
	return CompactResult(result), err
}

// Checkpoint summarizes a finished task. It is [CompactionSessionService.Compact] with the prompt
// and the frame of a checkpoint: what was done, what is known, and what comes next. It stores its
// record at once, with the same risk.
func (s *CompactionSessionService) Checkpoint(ctx context.Context, ref SessionRef, opts CheckpointOptions) (CompactResult, error) {
	if opts.KeepRecent < 0 {
		return CompactResult{}, fmt.Errorf("checkpoint: KeepRecent is %d: it must not be negative; 0 keeps 1", opts.KeepRecent)
	}
	if err := tooLong("checkpoint: Note", opts.Note); err != nil {
		return CompactResult{}, err
	}
	j := writer.Job{Trigger: record.TriggerCheckpoint, Kind: record.KindCheckpoint, Note: writer.CleanText(opts.Note)}
	result, err := s.engine.ByHand(ctx, ref, j, compactor.Keep{Invocations: cmp.Or(opts.KeepRecent, 1)})
	return CompactResult(result), err
}
