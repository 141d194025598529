// Package persistence is a session service on one SQLite file that an auditor can read with the
// sqlite3 shell alone. docs/schema.md describes the tables and views.
//
// Limits first. The file is for one machine: SQLite's locks do not work over a network file system.
// One connection writes at a time; several processes may share the file and take turns. Beyond one
// machine, use ADK's session/database on PostgreSQL, or its Vertex AI service. A new file gets the
// permissions that the process's umask leaves; what was said stands in it as plain text.
//
// What it promises:
//
//   - Every field of an event comes back as it was stored, times to the nanosecond (in UTC), with the
//     one change that JSON makes: values inside maps become JSON's own types, so an int becomes a
//     float64, and bytes that are no UTF-8 become U+FFFD.
//   - An append that returned nil survives a power cut (see [WithSynchronousNormal]), one that returned an
//     error left nothing behind, neither in the file nor in the handle.
//   - Events stand in the order in which they were committed, whatever their timestamps say.
//   - Handles never become stale: appends from handles, goroutines and processes interleave. As with
//     ADK's own services, a handle sees its own appends and not those of others; Get is fresh.
//
// The events of each session form a hash chain, so that an audit notices a row that was changed, deleted,
// inserted or moved; see docs/schema.md. What is deleted is overwritten.
//
// A long session costs what a short one costs: each event is marked with the compaction record that stands
// for it, and [SQLiteSessionService.GetActive] reads what is left. [SQLiteSessionService.History] pages
// through everything.
//
// It imports modernc.org/sqlite, which registers the database/sql driver "sqlite". A program that also
// links another driver of that name, such as github.com/glebarez/sqlite, panics when it starts.
package persistence
