// Package oracle defines the view of a session a second time. On purpose it shares no code with
// internal/view, which computes the views: a mistake would have to be made twice to go unnoticed.
//
// It answers in two ways. [View] computes the one right view of a history, slowly and straight from
// the rules in ARCHITECTURE.md, and [Compare] compares a view with it; tests use these two. [Check]
// requires less and is fast: a visible summary covers every hidden event, and the view is
// well-formed for models and for ADK. Commands use it on sessions of any length and of any version.
//
// The package changes nothing, is safe for concurrent use and does not import testing.
package oracle
