// Package filtered shows a session the way a model should see it: current summaries in place of the
// events they stand for, and every other event as it was stored.
//
// Use it to read compacted sessions where no compaction service wraps the storage. [Project] turns a
// list of stored events into the view, and [NewFilteredSession] puts that view in front of a whole
// session. Neither changes the events or the session. For example, a session stores
//
//	e1  user:  Book a table for four.
//	e2  agent: At which restaurant?
//	r   record with a summary of e1 and e2
//	e3  user:  Casa Lola, at eight.
//
// and its view is the summary in r, followed by e3.
package filtered
