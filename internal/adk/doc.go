// Package adk is the one place that knows the rules of ADK which ADK does not export: which events
// belong together, which of them a prompt contains, and who wrote them.
//
// A unit is the smallest set of events that a provider accepts only together: a call event, with
// all its parallel siblings, and every event that answers one of them. [GroupUnits] decides which
// unit an event belongs to, and whether the unit still waits for an answer.
package adk
