// Package replay plays recorded conversations through the real ADK runner. It shows what a
// compaction policy would have sent to the model, what that would have cost, and what would have
// been lost. An app calls it in its own tests, so that a build fails when a policy loses a fact;
// the command longsession replay and the benchmarks call it too.
//
//	conversation ── App.Run, whole history ─────────> sizes, scale ┐
//	             └─ App.Run, once for each Policy ──> requests ────┴─> Report ── Checker ──> error
//
// [Play] plays one [Policy], [Compare] several. No model is called: a script gives the recorded
// answers, and function tools serve the recorded results. Only a policy whose summaries a model
// writes calls that model.
//
// For example, with a recording of three messages,
//
//	user   "My booking code is XK7P2."
//	agent  "Noted."
//	user   "Which code do I have?"
//
// and a policy that summarizes the first turn before the second, the report has one compaction.
// With Options.Facts of "XK7P2", [Checker.Check] returns an error if the summary does not mention
// the code.
//
// [App.Run] drives any session service with any plugins. It reports nothing by itself, but
// App.Request receives every request, which is enough to measure other ways of keeping a session
// short.
//
// Package [github.com/adk-go-ext/longsession/replay/conversation] reads files of recorded
// conversations.
package replay
