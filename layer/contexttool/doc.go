// Package contexttool has the tools by which a model tends its own context.
//
//	mark_task_done    reports a finished task: the service writes a checkpoint when the turn has ended
//	compact_context   summarizes older turns now, before a large operation
//
// Both work on a session of a [compaction.CompactionSessionService], and call no model themselves. The
// note that package budget writes into a tool result at 80% of the window names compact_context if the
// model is offered it.
//
// The service finds the request for a checkpoint again from the stored call of mark_task_done. So the checkpoint
// is written, once, even if the process is killed in between or all automatic compaction is off.
package contexttool
