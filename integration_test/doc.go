// Package integration runs real ADK agents, with the real runner, over a compacting session
// service, and looks at every request that their models get.
//
// The models answer from a script and the summarizer is an oracle that keeps all facts, so whatever
// is missing from a request was lost by the service, not by a model. The package also pins the
// behaviors of ADK that this module relies on; see the files adk_pins_*_test.go.
package integration
