package compaction

import (
	"context"
)

// CompactIfNeeded compacts a session now if a trigger is due, or would be with the next event, and
// returns when nothing is due any more. It is for apps that would rather wait between two turns than
// within one. If nothing is due, the result is Skipped, and Reason says what a compaction waits for;
// see [Status]. It is the same whether compactions run in the background or not, and stores its
// records at once, with the risk of [CompactionSessionService.Compact].
//
// After failures it respects the back-off of automatic compactions. Errors are those of Compact.
func (s *CompactionSessionService) CompactIfNeeded(ctx context.Context, ref SessionRef) (CompactResult, error) {
	result, err := s.engine.IfNeeded(ctx, ref)
	return CompactResult(result), err
}
