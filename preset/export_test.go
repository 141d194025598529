package preset

// What the tests outside of the package look at.
type Thresholds = thresholds

var (
	PairOf       = pairOf
	RetirementOf = retirementOf
)
