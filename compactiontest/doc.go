// Package compactiontest helps to test agents and session services that compact: histories in a few
// lines, models that answer from a script, summarizers whose answers can be checked, the invariants of
// a view, a session service as unhelpful as any, and a conformance suite for whole stacks of services.
//
// The suite's cases return errors and take no testing.T, so that commands can run them too; only [Run]
// imports testing.
package compactiontest
