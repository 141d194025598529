package contexttool

import (
	"cmp"
	"fmt"

	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/configerr"
)

// The names of the tools.
const (
	MarkTaskDoneName   = "mark_task_done"
	CompactContextName = "compact_context"
)

// Mode is who may ask for a checkpoint.
type Mode string

// The modes. The zero value means ByModel.
const (
	// ByModel offers mark_task_done to the model. The app may call Checkpoint as well.
	ByModel Mode = "model"
	// ByOperator leaves checkpoints to the app, which calls Checkpoint, for example for a command of its
	// user. The model is not offered the tool.
	ByOperator Mode = "operator"
	// NoCheckpoints offers the model no such tool, and the app should show no such command.
	NoCheckpoints Mode = "off"
)

// Config says which tools are offered. The zero value offers none.
type Config struct {
	// Enabled offers the tools. If false, [New] returns no tool, whatever the other fields are.
	Enabled bool
	// Checkpoint is who may ask for a checkpoint. "" means ByModel. It does not affect compact_context.
	Checkpoint Mode
	// CheckpointTokens becomes compaction.Config.CheckpointTokens, see [Config.Compaction]. 0 means
	// 2,000, Off no minimum.
	CheckpointTokens int
	// OmitCompactContext leaves compact_context out.
	OmitCompactContext bool
	// CompactEvery is how many events must lie between two compactions by compact_context. 0 means 10.
	// [compaction.Off] allows any number.
	CompactEvery int
}

// Options are the options of one tool. The zero value is the defaults.
type Options struct {
	// Every is how many events must lie between two compactions by compact_context. 0 means 10. Off
	// allows any number. It has no effect on mark_task_done.
	Every int
}

const defaultEvery = 10 // as many as a compaction leaves raw: before that there is nothing new to compact

// Check returns the joined problems of a config, each a [*compaction.ConfigError], nil if there is none.
func (c Config) Check() error {
	var p configerr.Problems
	if m := c.mode(); m != ByModel && m != ByOperator && m != NoCheckpoints {
		p.Refuse("Checkpoint", c.Checkpoint, "there are %s, %s and %s", ByModel, ByOperator, NoCheckpoints)
	}
	if c.CheckpointTokens < compaction.Off {
		p.Refuse("CheckpointTokens", c.CheckpointTokens, "it must not be negative; 0 is 2,000, and Off (%d) means no minimum", compaction.Off)
	}
	if c.CompactEvery < compaction.Off {
		p.Refuse("CompactEvery", c.CompactEvery, "%s", everyReason)
	}
	return p.Join("contexttool config")
}

var everyReason = fmt.Sprintf("it must not be negative; 0 is %d, and Off (%d) allows any number", defaultEvery, compaction.Off)

func (c Config) mode() Mode { return cmp.Or(c.Checkpoint, ByModel) }

// Compaction returns a compaction config in which the service answers the calls of mark_task_done, if c
// offers it to the model. Otherwise it returns cfg unchanged. The config of the service that [New] is
// given must come from here, or mark_task_done is refused.
func (c Config) Compaction(cfg compaction.Config) compaction.Config {
	if c.Enabled && c.mode() == ByModel {
		cfg.CheckpointTool, cfg.CheckpointTokens = MarkTaskDoneName, c.CheckpointTokens
	}
	return cfg
}

// Tools are the tools of one config. They may be given to any number of agents.
type Tools struct {
	mode  Mode
	tools []tool.Tool
}

// New makes the tools for a service. The error joins a [*compaction.ConfigError] for every value that is refused.
func New(svc *compaction.CompactionSessionService, cfg Config) (*Tools, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	t := &Tools{mode: cfg.mode()}
	if !cfg.Enabled {
		t.mode = NoCheckpoints
		return t, nil
	}
	if t.mode == ByModel {
		mark, err := newMarkTaskDone(svc, Options{})
		if err != nil {
			return nil, err
		}
		t.tools = append(t.tools, mark)
	}
	if !cfg.OmitCompactContext {
		compact, err := newCompactContext(svc, Options{Every: cfg.CompactEvery})
		if err != nil {
			return nil, err
		}
		t.tools = append(t.tools, compact)
	}
	return t, nil
}

// Tools returns the tools for an agent's Config.Tools, nil if none is offered.
func (t *Tools) Tools() []tool.Tool { return append([]tool.Tool(nil), t.tools...) }

// Checkpoint reports who may ask for a checkpoint: an app that has a command for it should show it
// unless the mode is [NoCheckpoints].
func (t *Tools) Checkpoint() Mode { return t.mode }
