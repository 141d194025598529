// Package testkit holds the code that tests of several packages share: how much work a run is worth
// ([Race], [Brief], [Whole], [Rounds]) and a quiet default logger ([Quiet]). Package storages,
// below it, opens the session services to run on; it is a package of its own because it drags in
// database drivers.
//
// Only tests may import either; a test in the root package checks that. Histories are built with
// compactiontest.History, which is exported because users' tests need it as well.
package testkit
