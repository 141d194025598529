package compaction

import (
	"context"
	"errors"
	"log/slog"
	"reflect"

	"google.golang.org/genai"
)

// What is logged is a change of state, once, and never content: no event, no summary, no text of a
// provider's error. The observer and [Status] have the errors.

func (p *policy) logger() *slog.Logger {
	if p.Logger != nil {
		return p.Logger
	}
	return slog.Default()
}

// log logs about a session. A logger that panics harms nobody.
func (s *CompactionSessionService) log(ctx context.Context, level slog.Level, ref SessionRef, message string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("app", ref.AppName), slog.String("session", ref.SessionID)}, attrs...)
	s.policy.log(ctx, level, message, attrs...)
}

func (p *policy) log(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	defer func() { _ = recover() }()
	p.logger().LogAttrs(ctx, level, "longsession: "+message, attrs...)
}

// logFailure logs that a session's compactions begin to fail, and that a summary is dropped.
func (s *CompactionSessionService) logFailure(ctx context.Context, st *sessionState, a *attempt, cause error) {
	if errors.Is(cause, errDropped) {
		s.log(ctx, slog.LevelWarn, st.ref, "a summary is dropped: storage refuses it", kindOf(a, cause)...)
		return
	}
	st.mu.Lock()
	begins := !st.memory.failing
	st.memory.failing = true
	st.mu.Unlock()
	if begins {
		s.log(ctx, slog.LevelWarn, st.ref, "compaction begins to fail: the history stays as it is, and prompts grow", kindOf(a, cause)...)
	}
}

// logRecovery logs that a session's compactions work again.
func (s *CompactionSessionService) logRecovery(ctx context.Context, st *sessionState) {
	st.mu.Lock()
	ends := st.memory.failing
	st.memory.failing = false
	st.mu.Unlock()
	if ends {
		s.log(ctx, slog.LevelInfo, st.ref, "compaction works again")
	}
}

// kindOf describes an error without its text, which may quote what was said.
func kindOf(a *attempt, cause error) []slog.Attr {
	attrs := []slog.Attr{slog.String("trigger", string(a.Trigger)), slog.String(keyErrorType, a.errorType)}
	var refused genai.APIError
	if errors.As(cause, &refused) {
		attrs = append(attrs, slog.Int("code", refused.Code), slog.String("status", refused.Status))
	}
	return attrs
}

// reportAssumed logs once for each model that its context window is assumed.
func (s *CompactionSessionService) reportAssumed(ctx context.Context, l *limits) {
	if !l.assumed || !s.policy.automatic() {
		return
	}
	if _, told := s.policy.assumed.LoadOrStore(l.model, true); !told {
		s.policy.log(ctx, slog.LevelWarn, "the agent's model is not known, so its context window is assumed; set ContextWindow, AgentModel or Registry",
			slog.String("model", l.model), slog.Int("context_window", l.window))
	}
}

// isNil reports whether a value is nil, or an interface that holds a nil pointer.
func isNil(value any) bool {
	if value == nil {
		return true
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Slice:
		return v.IsNil()
	default:
		return false
	}
}
