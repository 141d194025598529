// Package testkit is what tests of several packages share: storages to run on ([InMemory], [Database],
// [Persistence]), how much work a run is worth ([Race], [Brief], [Whole], [Rounds]), and a quiet default
// logger ([Quiet]).
//
// Only tests may import it; a test in the root package checks that. Histories are built with
// compactiontest.History, which is exported because users' tests need it as well.
package testkit
