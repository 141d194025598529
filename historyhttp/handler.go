// Package historyhttp serves the full history of sessions over HTTP, for people.
//
// ADK's own REST endpoint reads sessions through the session service that the runner has. Over a
// compaction service it therefore serves the view of the model: summaries in place of old events. This
// package serves the same JSON from storage instead: every event as it was stored, and nothing that
// compaction added.
package historyhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gorilla/mux"

	"google.golang.org/adk/server/adkrest/controllers"

	"github.com/adk-go-ext/longsession/compaction"
)

// NewHandler returns a handler for these requests, in the paths and the JSON format of ADK's REST API:
//
//	GET /apps/{app}/users/{user}/sessions             the user's sessions, without events
//	GET /apps/{app}/users/{user}/sessions/{session}   one session with all its events
//
// Two query parameters shorten a long history, as the fields of ADK's session.GetRequest do:
// numRecentEvents is the largest number of newest events to return, and after is a time in RFC 3339
// before which events are left out. A path segment must be escaped with [url.PathEscape].
//
// A session that does not exist is answered with 404, a parameter that cannot be read with 400, a
// method other than GET and HEAD with 405, and a failure of the inner service with 500. The handler
// writes nothing to storage and is safe for concurrent use.
//
// The handler does not authenticate callers. Histories hold everything that users and tools said,
// so put the app's own authorization in front of it. Mount it below another prefix than ADK's API,
// for example with [http.StripPrefix].
func NewHandler(sessions *compaction.CompactionSessionService) http.Handler {
	api := controllers.NewSessionsAPIController(stored{sessions})
	routes := http.NewServeMux()
	routes.HandleFunc("GET /apps/{app}/users/{user}/sessions", func(w http.ResponseWriter, r *http.Request) {
		api.ListSessionsHandler(w, withVars(r))
	})
	routes.HandleFunc("GET /apps/{app}/users/{user}/sessions/{session}", func(w http.ResponseWriter, r *http.Request) {
		part, err := readRange(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r = withVars(r)
		api.GetSessionHandler(w, r.WithContext(context.WithValue(r.Context(), rangeKey{}, part)))
	})
	return routes
}

// withVars hands the segments of the path to ADK's controller, which reads them where gorilla/mux
// puts them.
func withVars(r *http.Request) *http.Request {
	return mux.SetURLVars(r, map[string]string{
		"app_name":   r.PathValue("app"),
		"user_id":    r.PathValue("user"),
		"session_id": r.PathValue("session"),
	})
}

// eventRange is the part of a history that a request asks for. The zero value is all of it.
type eventRange struct {
	recent int
	after  time.Time
}

type rangeKey struct{}

func readRange(query url.Values) (part eventRange, err error) {
	if text := query.Get("numRecentEvents"); text != "" {
		if part.recent, err = strconv.Atoi(text); err != nil || part.recent < 1 {
			return part, fmt.Errorf("numRecentEvents is %.40q: it must be a whole number of at least 1; leave it out for all events", text)
		}
	}
	if text := query.Get("after"); text != "" {
		if part.after, err = time.Parse(time.RFC3339, text); err != nil {
			return part, fmt.Errorf("after is %.40q: it must be a time like 2026-01-31T15:04:05Z", text)
		}
	}
	return part, nil
}

var errReadOnly = errors.New("the history is read only")
