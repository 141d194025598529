// Package compaction keeps the prompts of an ADK agent short over thousands of turns.
//
// It decorates any session.Service. Readers of a session see a view of it: summaries of what is old,
// everything recent in full. Storage keeps the whole history; a compaction appends one record and
// changes nothing else.
//
//	svc, err := compaction.NewCompactionService(inner, cfg)
//	// then runner.Config{SessionService: svc}
//
// When is decided after every append: at the end of a turn by the number of invocations, and after
// every event but a call by the size of the prompt. The work is done in the background, or, with
// Config.Synchronous or at the hard limit of the context window, before AppendEvent returns. None of
// it ever fails a turn: what goes wrong is told to Config.Observer, and the history stays as it was.
//
// All session handles that a service gave out, and all its methods, are safe for concurrent use if
// the inner service's are.
//
// This package does not import a database. In particular it never imports the SQLite service of this
// module, whose driver registers itself as "sqlite" and so cannot share a binary with glebarez/sqlite.
package compaction
