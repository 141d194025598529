package compaction

import (
	"context"
)

// TaskDone is what a call of [Config].CheckpointTool leads to. Tokens are estimates.
type TaskDone struct {
	// Known is false if the session has no such call.
	Known bool
	// Repeats means that an earlier call of the same turn asks for the checkpoint already. The two
	// share it.
	Repeats bool
	// Now is how much of the conversation a checkpoint would replace at the end of the turn: what no
	// summary covers, in the branch of the call and before its turn. Later also counts the turn itself,
	// which may be covered once the next one has ended.
	Now, Later int
}

// TaskDone finds out what a call of [Config].CheckpointTool leads to, for the tool that was called. It
// changes nothing: the call itself, once stored, asks for the checkpoint. Errors are the inner
// service's.
func (s *CompactionSessionService) TaskDone(ctx context.Context, ref SessionRef, invocationID, callID string) (TaskDone, error) {
	h, err := s.sessions.Handle(ctx, ref)
	if err != nil {
		return TaskDone{}, err
	}
	return TaskDone(s.engine.TaskDone(h, invocationID, callID)), nil
}
