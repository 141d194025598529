// Package integration runs real ADK agents with the real runner over a compacting session service,
// and checks every request to their models.
//
// The models answer from a script, and the summarizer is an oracle that keeps all facts. So if a
// fact is missing from a request, the service lost it, not a model. The package also pins ADK
// behavior that this module relies on; see the files adk_pins_*_test.go.
package integration
