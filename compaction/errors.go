package compaction

import (
	"fmt"

	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
)

// ErrCompaction marks an error of a compaction. The history is unchanged and no turn was harmed.
// Get and AppendEvent never return it; Compact, Checkpoint and observations do. The cause is joined
// to it, so errors.Is finds both.
var ErrCompaction = telemetry.ErrCompaction

// ConfigError is one value of a [Config] that is refused. [NewCompactionService] reports all of
// them at once, joined: errors.As finds the first.
type ConfigError struct {
	Field  string // of Config
	Value  any    // as it was given; for a number that was left at 0, its default
	Reason string // what is wrong with it, and what to do, naming other fields as Config does
}

// Error names the field, its value and what is wrong.
func (e *ConfigError) Error() string {
	value := fmt.Sprint(e.Value)
	switch v := e.Value.(type) {
	case nil:
		value = "nil"
	case string:
		value = fmt.Sprintf("%.40q", v)
	}
	return fmt.Sprintf("%s is %s: %s", e.Field, value, e.Reason)
}
