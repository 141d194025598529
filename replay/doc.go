// Package replay plays recorded conversations through the real ADK runner and compares what the model was
// sent with the whole history in every prompt and under a policy of compaction.
//
//	conversation -> Play(App)    once over a bare session service, whole history   -> sizes, scale
//	             -> Play(App)    once under each Policy, over the compaction service -> Report
//
// [Play] knows nothing of compaction: it drives an [App], a session service with plugins, and hands each
// request to a function. [Compare] measures requests by that, fits the recording's own token counts to
// estimates (scale), holds the view to internal/oracle after every record, and fills in a [Report]. What
// other ways of keeping a session short do can be measured by Play in the same way.
package replay
