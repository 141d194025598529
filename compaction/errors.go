package compaction

import (
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
)

// ErrCompaction marks an error of a compaction. The history is unchanged and no turn was harmed.
// Get and AppendEvent never return it; Compact, Checkpoint and observations do. The cause is joined
// to it, so errors.Is finds both.
var ErrCompaction = telemetry.ErrCompaction

// ErrNotFound is the error of a session that does not exist, for errors.Is. Every service here returns errors that wrap
// it. ADK v1 has it as session.ErrNotFound, and this is the same; ADK v2.2 has none, and its own services say it in words.
var ErrNotFound = adk.ErrNotFound

// ConfigError is one refused value: Field names it as [Config] does, Value is as it was given (for a number that
// was left at 0, its default), and Reason says what is wrong with it, and what to do. [NewCompactionService]
// reports all of them at once, joined: errors.As finds the first. All packages of this module have the same type.
type ConfigError = configerr.Error
