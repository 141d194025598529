package compactiontest

// What the tests outside of the package look at.
var (
	InnerCases    = innerCases
	ErrNotOffered = errNotOffered
)
