package compactiontest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// write stores an event without what the backend loses. The caller holds mu.
func (s *StrictService) write(key strictKey, stored *strictRecord, ev *session.Event) error {
	kept := *ev
	kept.Actions.StateDelta = withoutTemp(ev.Actions.StateDelta)
	if !s.opts.KeepFields {
		loseFields(&kept)
	}
	written := &kept
	switch {
	case !s.opts.KeepTypes:
		written = &session.Event{}
		kept.Timestamp = time.Time{} // JSON has no year after 9999, but storage does
		if err := throughJSON(&kept, written); err != nil {
			return fmt.Errorf("encode event %s: %w", ev.ID, err)
		}
		written.Timestamp = ev.Timestamp.UTC()
	case s.opts.KeepApart:
		written = adk.DeepCopy(&kept)
	}
	if !s.opts.KeepIDs {
		s.named++
		written.ID = fmt.Sprintf("stored-%d", s.named)
	}
	if err := s.setState(key, stored, kept.Actions.StateDelta); err != nil {
		return err
	}
	stored.events = append(stored.events, written)
	stored.updated = ev.Timestamp
	return nil
}

// read returns the stored events in the form that a Get returns. The caller holds mu.
func (s *StrictService) read(stored *strictRecord, after time.Time, recent int) []*session.Event {
	events := slices.Clone(stored.events)
	if !s.opts.KeepOrder {
		slices.Reverse(events)
		slices.SortStableFunc(events, func(a, b *session.Event) int { return a.Timestamp.Compare(b.Timestamp) })
	}
	if !after.IsZero() {
		events = slices.DeleteFunc(events, func(ev *session.Event) bool { return ev.Timestamp.Before(after) })
	}
	if recent > 0 {
		events = events[max(0, len(events)-recent):]
	}
	if s.opts.KeepApart {
		events = adk.DeepCopy(events)
	}
	return events
}

func (s *StrictService) cut(t time.Time) time.Time {
	if s.opts.KeepNanoseconds {
		return t
	}
	return t.Truncate(time.Microsecond)
}

// scopeKey identifies shared state: a user's, or the app's if user is "".
type scopeKey struct{ app, user string }

// setState merges a delta into the state of the session, its user and its app. The caller holds mu.
func (s *StrictService) setState(key strictKey, stored *strictRecord, delta map[string]any) error {
	kept := withoutTemp(delta)
	if !s.opts.KeepTypes && kept != nil {
		decoded := map[string]any{}
		if err := throughJSON(kept, &decoded); err != nil {
			return fmt.Errorf("encode state: %w", err)
		}
		kept = decoded
	}
	for name, value := range kept {
		switch {
		case strings.HasPrefix(name, session.KeyPrefixApp):
			s.shared(scopeKey{key.app, ""})[name] = value
		case strings.HasPrefix(name, session.KeyPrefixUser):
			s.shared(scopeKey{key.app, key.user})[name] = value
		default:
			stored.state[name] = value
		}
	}
	return nil
}

func (s *StrictService) shared(scope scopeKey) map[string]any {
	if s.state[scope] == nil {
		s.state[scope] = map[string]any{}
	}
	return s.state[scope]
}

// stateOf merges the state visible to a session. The caller holds mu.
func (s *StrictService) stateOf(key strictKey, stored *strictRecord) map[string]any {
	merged := maps.Clone(stored.state)
	maps.Copy(merged, s.state[scopeKey{key.app, ""}])
	maps.Copy(merged, s.state[scopeKey{key.app, key.user}])
	return merged
}

func withoutTemp(delta map[string]any) map[string]any {
	kept := maps.Clone(delta)
	maps.DeleteFunc(kept, func(name string, _ any) bool { return adk.IsTemp(name) })
	return kept
}

func without(keys []strictKey, key strictKey) []strictKey {
	return slices.DeleteFunc(keys, func(k strictKey) bool { return k == key })
}

func throughJSON(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// loseFields drops the fields that Vertex AI does not store.
func loseFields(ev *session.Event) {
	ev.LLMResponse = model.LLMResponse{
		Content:           storableContent(ev.Content),
		GroundingMetadata: ev.GroundingMetadata,
		CustomMetadata:    ev.CustomMetadata,
		TurnComplete:      ev.TurnComplete,
		Interrupted:       ev.Interrupted,
		ErrorCode:         ev.ErrorCode,
		ErrorMessage:      ev.ErrorMessage,
	}
	ev.Actions = session.EventActions{StateDelta: ev.Actions.StateDelta, ArtifactDelta: ev.Actions.ArtifactDelta}
}

// storableContent returns content without the parts that Vertex AI does not store.
func storableContent(content *genai.Content) *genai.Content {
	if content == nil {
		return nil
	}
	kept := &genai.Content{Role: content.Role, Parts: []*genai.Part{}}
	for _, part := range content.Parts {
		if part == nil || part.Text == "" && part.InlineData == nil && part.FunctionCall == nil && part.FunctionResponse == nil && len(part.ThoughtSignature) == 0 {
			continue
		}
		kept.Parts = append(kept.Parts, &genai.Part{
			Text: part.Text, InlineData: part.InlineData, FunctionCall: part.FunctionCall, FunctionResponse: part.FunctionResponse,
			Thought: part.Thought, ThoughtSignature: part.ThoughtSignature,
		})
	}
	return kept
}
