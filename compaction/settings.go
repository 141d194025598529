package compaction

import "time"

// Settings are values of a service's [Config], with defaults filled in, for tools and layers that work
// with the service.
type Settings struct {
	OverlapSize  int // invocations that stay raw
	RetainEvents int // events that stay raw
	Timeout      time.Duration
	// InvocationThreshold is the number of complete invocations since the newest summary after which a compaction
	// begins. It is 0 if compaction by turns is off.
	InvocationThreshold int
	// CheckpointTool is "" if no tool asks for checkpoints. CheckpointTokens is 0 if there is no
	// minimum.
	CheckpointTool   string
	CheckpointTokens int
}

// Settings returns what the service works with.
func (s *CompactionSessionService) Settings() Settings { return s.settings }

func (p *policy) settings() Settings {
	return Settings{
		OverlapSize: p.OverlapSize, RetainEvents: p.RetainEvents, Timeout: p.Timeout,
		InvocationThreshold: p.InvocationThreshold,
		CheckpointTool:      p.CheckpointTool, CheckpointTokens: p.CheckpointTokens,
	}
}
