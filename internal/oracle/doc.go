// Package oracle states once more, independently, what the view of a session must be. It shares no code
// with internal/view, which makes the views, on purpose: a mistake would have to be made twice to go
// unnoticed.
//
// It answers in two ways. [View] computes the one right view of a history, slowly and straight from the
// rules in ARCHITECTURE.md, and [Compare] holds a view against it; tests use these two. [Check] asks less
// of a view and is fast: every hidden event is covered by a summary that is shown, and a model and ADK
// find the view well-formed. Commands use it on sessions of any length and of any version.
//
// The package changes nothing, is safe for concurrent use and does not import testing.
package oracle
