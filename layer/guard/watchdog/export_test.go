package watchdog

// What the tests outside of the package look at.
var Args = canonicalArgs
var Cycle = newCycle
var Failures = newFailures
var NoOp = newNoOp
var RepeatedToolCall = newRepeated
var SameName = newSameName
var ToolsWithoutText = newToolsWithoutText
