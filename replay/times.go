package replay

import (
	"context"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// cacheLife is for how long a provider keeps a prompt that nobody asks for, as package compaction has it.
const cacheLife = 5 * time.Minute

// times are when the answers of a conversation were recorded, by call. They never go back: an answer without a time, or
// with an earlier one, has that of the answer before. They are nil if no answer has a time.
func times(c *conversation.Conversation) []time.Time {
	var all []time.Time
	var last time.Time
	for _, turn := range c.Turns {
		for _, step := range turn.Steps {
			if step.Time.After(last) {
				last = step.Time
			}
			all = append(all, last)
		}
		if len(turn.Steps) == 0 {
			all = append(all, last)
		}
	}
	if last.IsZero() {
		return nil
	}
	return all
}

// expired reports whether the prompt of the call before is no longer in a provider's cache.
func expired(times []time.Time, call int) bool {
	return call > 0 && call < len(times) && !times[call-1].IsZero() && times[call].Sub(times[call-1]) > cacheLife
}

// pauses counts the calls whose prompt is no longer in a provider's cache.
func pauses(times []time.Time) (n int) {
	for call := range times {
		if expired(times, call) {
			n++
		}
	}
	return n
}

// clocked gives events the times of the recording, before the service inside sees them.
type clocked struct {
	session.Service
	script *script
	times  []time.Time
	last   time.Time
}

// AppendEvent gives an answer its recorded time, and other events that of the answer that follows: a message and a
// result are sent with the next call. Each event is later than the one before.
func (s *clocked) AppendEvent(ctx context.Context, at session.Session, ev *session.Event) error {
	call := callOf(s.script.c, s.script.turn, s.script.step)
	if class := adk.Classify(ev); class.Is(adk.ByAgent|adk.Speaks) && !class.Is(adk.Responds) {
		call--
	}
	if now := s.times[max(0, min(call, len(s.times)-1))]; !now.IsZero() {
		if !now.After(s.last) {
			now = s.last.Add(time.Microsecond)
		}
		s.last, ev.Timestamp = now, now
	}
	return s.Service.AppendEvent(ctx, at, ev)
}
