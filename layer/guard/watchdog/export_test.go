package watchdog

// What the tests outside of the package look at.
var (
	Args             = canonicalArgs
	Cycle            = newCycle
	Failures         = newFailures
	NoOp             = newNoOp
	RepeatedToolCall = newRepeated
	SameName         = newSameName
	ToolsWithoutText = newToolsWithoutText
)
