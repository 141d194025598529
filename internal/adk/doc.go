// Package adk is the only place that implements rules of ADK that ADK does not export: what an
// event is ([Classify]), which events belong together ([GroupUnits]), and which of them a prompt
// contains ([Visible], [Prompted]). A rule that mirrors a function of ADK names it, and a TestPin
// in integration_test compares the two.
//
// A unit is the smallest set of events that a provider accepts only together: a call event with all
// its parallel siblings, and every event that responds to one of them.
//
//	e1 bot: calls weather("Oslo") as a and weather("Rome") as b
//	e2 bot: the response to a
//	e3 bot: the response to b        e1, e2 and e3 are one unit
//
// The independent checkers, internal/oracle above all, do not use this package.
package adk
