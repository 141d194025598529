// Package compactiontest helps to test agents and session services that compact: histories in a few
// lines, models that answer from a script, summarizers whose answers can be checked, and the
// invariants of a view.
//
// It imports testing nowhere, so that commands can use it too.
package compactiontest
