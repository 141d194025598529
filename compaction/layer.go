package compaction

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/filtered"
)

// maxLayers bounds how far a chain of decorators is followed: one that unwraps to itself must not
// hang a turn.
const maxLayers = 64

// findLayer returns the compaction service that service is or wraps, nil if there is none.
func findLayer(service session.Service) *CompactionSessionService {
	for range maxLayers {
		if layer, ok := service.(*CompactionSessionService); ok {
			return layer
		}
		wrapper, ok := service.(interface{ Unwrap() session.Service })
		if !ok {
			return nil
		}
		service = wrapper.Unwrap()
	}
	return nil
}

// wrap puts the service's layer around a session of the inner service.
func (s *CompactionSessionService) wrap(sess session.Session, set func(*handle)) session.Session {
	st := s.states.of(refOf(sess))
	h := s.newHandle(st, st.news.open(), sess)
	if set != nil {
		set(h)
	}
	return filtered.NewSession(sess, h)
}

func (s *CompactionSessionService) newHandle(st *sessionState, c *cursor, sess session.Session) *handle {
	h := &handle{service: s, state: st, inner: sess, cursor: c}
	view, active := s.viewOf(st.ref, sess)
	h.view, h.meter = view, meter.New(view, st.prompts)
	h.loaded(active)
	st.closeWith(h, c)
	return h
}

// peel finds the service's own layer in a session and returns what lies directly below it: another
// decorator may sit there, and another one above. A session without such a layer is returned as it is.
func (s *CompactionSessionService) peel(sess session.Session) (session.Session, *handle) {
	layer := sess
	for range maxLayers {
		if own, ok := layer.(*filtered.FilteredSession); ok {
			if h, ok := own.Source().(*handle); ok && h.service == s {
				return own.Unwrap(), h
			}
		}
		wrapper, ok := layer.(interface{ Unwrap() session.Session })
		if !ok {
			break
		}
		layer = wrapper.Unwrap()
	}
	return sess, nil
}
