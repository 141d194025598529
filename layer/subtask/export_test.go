package subtask

// What the tests outside of the package look at.
const DefaultMaxReplyTokens = defaultMaxReplyTokens
