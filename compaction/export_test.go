package compaction

// What the tests outside of the package look at.
const MaxWords = maxWords
const StrategySummarized = strategySummarized
const StrategyTruncated = strategyTruncated
