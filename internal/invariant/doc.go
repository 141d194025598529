// Package invariant states what every view of a session must keep: whatever is hidden is stood for by a
// summary that is shown, and a model and ADK find the view well-formed. It shares no code with package
// filtered, which makes the views, and imports no testing, so that commands can use it too.
package invariant
