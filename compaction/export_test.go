package compaction

// What the tests outside of the package look at.
const (
	MaxWords           = maxWords
	StrategySummarized = strategySummarized
	StrategyTruncated  = strategyTruncated
)
