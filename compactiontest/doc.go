// Package compactiontest helps to test agents and session services that compact: histories in a few
// lines, models that answer from a script, summarizers whose answers can be checked, the invariants of
// a view, a session service as unhelpful as any, and two conformance suites: [Run] checks a whole stack
// of services, and [RunInner] an inner service that implements optional interfaces of package compaction.
//
// The cases of the suites return errors and take no testing.T, so that commands can run them too; only
// [Run] and [RunInner] need one.
package compactiontest
