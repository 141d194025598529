// Package watchdog finds agents that go in circles: the same call again and again, a few calls in turn, calls
// whose results never change, calls that do nothing.
//
// A [Watchdog] observes one [Step] after another: an answer of a model and the results of the tools that it
// called. It follows each branch of an agent tree separately, and reports each pattern once, as an [Alert] with
// a [Severity]. Only a [Critical] pattern may end a run, and a pattern is critical only if its results are
// known and alike. Repeated calls whose results change are work, such as those of a tool that waits for a
// process.
//
// The package has no clock, no context and no model. Package guard feeds a Watchdog from the events of a
// runner, and acts on its verdicts.
package watchdog
