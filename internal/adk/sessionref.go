package adk

import "google.golang.org/adk/session"

// SessionRef names one session, as ADK's requests do. Every package of this module that names sessions has this type.
type SessionRef struct{ AppName, UserID, SessionID string }

// RefOf returns the name of a session.
func RefOf(sess session.Session) SessionRef {
	return SessionRef{AppName: sess.AppName(), UserID: sess.UserID(), SessionID: sess.ID()}
}

// Request returns the request that reads the session as a whole.
func (r SessionRef) Request() *session.GetRequest {
	return &session.GetRequest{AppName: r.AppName, UserID: r.UserID, SessionID: r.SessionID}
}

// Whole reports whether r names a session: no name is empty.
func (r SessionRef) Whole() bool { return r.AppName != "" && r.UserID != "" && r.SessionID != "" }
