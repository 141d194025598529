// Package replay plays recorded conversations through the real ADK runner, with and without compaction, and
// compares what the model was sent.
package replay
