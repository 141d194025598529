// Package persistence is a session service on one SQLite file. An auditor can read the file with
// the sqlite3 shell alone. docs/schema.md describes its tables and views.
//
// Limits first:
//
//   - The file is for one machine, because SQLite's locks do not work over a network file system.
//     Beyond one machine, use ADK's session/database on PostgreSQL, or its Vertex AI service.
//   - One connection writes at a time. Several processes may share the file and take turns.
//   - The file has every conversation as plain text. A new file gets the permissions that the umask
//     of the process leaves.
//
// The package promises:
//
//   - Every field of an event is returned as it was stored, times to the nanosecond (in UTC), with
//     the one change that JSON makes: values inside maps become JSON's own types, so an int becomes
//     a float64, and bytes that are not UTF-8 become U+FFFD.
//   - An append that returned nil survives a power cut (see [WithSynchronousNormal]). An append
//     that returned an error changed neither the file nor the handle.
//   - Events are in the order in which they were committed, whatever their timestamps are.
//   - Handles never become stale: appends from handles, goroutines and processes interleave. As
//     with ADK's own services, a handle sees its own appends and not those of others. Get reads
//     anew.
//
// The events of each session form a hash chain, with which an audit finds rows that were changed,
// deleted, inserted or moved (docs/schema.md). SQLite overwrites deleted data.
//
// The cost of a turn does not grow with the session: each event is marked with the compaction
// record that covers it, and [SQLiteSessionService.GetActive] reads only the others.
// [SQLiteSessionService.History] returns everything in pages.
//
// The package imports modernc.org/sqlite, which registers the database/sql driver "sqlite". A
// program that also links another driver of that name, such as github.com/glebarez/sqlite, panics
// when it starts.
package persistence
