package compactiontest

// What the tests outside of the package look at.
var (
	OptionalCases = optionalCases
	OffersAny     = offersAny
	ErrNotOffered = errNotOffered
)
