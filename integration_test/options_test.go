package integration_test

import "github.com/adk-go-ext/longsession/compaction"

// option changes an app. The plain app has DefaultConfig and a summarizer that keeps all facts, and
// checks every request.
type option func(*app)

// withConfig changes the configuration of the service. change may be nil.
func withConfig(change func(*compaction.Config)) option {
	return func(a *app) {
		if change != nil {
			change(&a.cfg)
		}
	}
}

// unordered allows events to be stored in any order.
func unordered(a *app) { a.lenience.unordered = true }

// forgetful allows summaries to lose facts.
func forgetful(a *app) { a.lenience.forgetful = true }

// unchecked disables all checks of requests.
func unchecked(a *app) { a.lenience.unchecked = true }

// strict requires requests that every provider accepts; see refusals. Some ADK features create
// other requests even without this module.
func strict(a *app) { a.lenience.strict = true }

// endingContexts ends the context of each turn with the turn, as a server does with a request's
// context.
func endingContexts(a *app) { a.requests = true }
