// Package activity has the figures of what the context management has done to a session, and the block of text
// that shows them to people:
//
//	Context-management activity:
//	  Compactions:  1 (last 4m12s ago, focus: auth module)
//	  Checkpoints:  3 (last 51s ago, note: finished the survey)
//	  Summarized:   8420 chars across all boundaries
//	  Subtasks:     2 (32919 in / 338 out tokens, $0.0107 rolled up to /stats total)
//	  Models:       gemini-2.5-pro (5 turns, 30822 in / 558 out, $0.0683)
//	              + gemini-2.5-flash (2 turns, 16520 in / 206 out, $0.0055)
//
// A running app fills in [Stats] from its services, the command from a file; both show the same text.
package activity
