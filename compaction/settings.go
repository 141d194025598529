package compaction

import (
	"time"
)

// Settings are values of a service's [Config], with defaults filled in, for tools and layers that work
// with the service.
type Settings struct {
	OverlapSize  int // invocations that stay raw
	RetainEvents int // events that stay raw
	Timeout      time.Duration
	// InvocationThreshold is the number of complete invocations since the newest summary after which a compaction
	// begins. It is 0 if compaction by turns is off, or if prices decide instead: then ByPrice is true.
	InvocationThreshold int
	ByPrice             bool
	// CheckpointTool is "" if no tool asks for checkpoints. CheckpointTokens is 0 if there is no
	// minimum.
	CheckpointTool   string
	CheckpointTokens int
}

// Settings returns what the service works with.
func (s *CompactionSessionService) Settings() Settings { return s.settings }

// Triggers are what begins a compaction of a session by itself, apart from the hard limit. The zero value is nothing.
type Triggers struct {
	// Tokens is the size of a prompt at which the token trigger fires; 0 if it is off.
	Tokens int
	// Invocations is the number of complete invocations since the newest summary, besides the Overlap that stays raw; 0
	// if compaction by turns is off.
	Invocations, Overlap int
	// ByPrice reports whether a compaction also begins when it pays.
	ByPrice bool
}

// Triggers returns the triggers of a session, by the model that its agent last had. It reads no storage.
func (s *CompactionSessionService) Triggers(ref SessionRef) Triggers {
	limits := s.sessions.Of(ref).Prompts.Limits()
	return Triggers{Tokens: limits.Threshold, Invocations: s.settings.InvocationThreshold, Overlap: s.settings.OverlapSize, ByPrice: s.settings.ByPrice}
}

func (p *policy) settings() Settings {
	return Settings{
		OverlapSize: p.OverlapSize, RetainEvents: p.RetainEvents, Timeout: p.Timeout,
		InvocationThreshold: p.InvocationThreshold, ByPrice: p.byPrice,
		CheckpointTool: p.CheckpointTool, CheckpointTokens: p.CheckpointTokens,
	}
}
