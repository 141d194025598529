// Package longsession is the root of a module that keeps the prompts of ADK agents short over
// thousands of turns, while storage keeps every word. It holds no code of its own.
//
// Start with package compaction, which decorates any session.Service of ADK, or run the example:
//
//	go run ./examples/quickstart
//
// README.md says what the module does and what it does not; ARCHITECTURE.md says how.
package longsession
