// Package compactiontest helps test agents and session services that compact. It has builders for
// short histories, scripted models, summarizers with verifiable output, a checker for the
// invariants of a view, and a session service that combines the limitations of every backend. [Run]
// is a conformance suite for a whole stack of services, and [RunOptional] is one for an inner service
// that implements optional interfaces of package compaction.
//
// Test cases return errors and take no testing.T, so that commands can run them too. Only [Run] and
// [RunOptional] need a testing.T.
package compactiontest
