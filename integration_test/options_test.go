package integration_test

import "github.com/adk-go-ext/longsession/compaction"

// option is one way in which an app differs from the plain one: DefaultConfig, a summarizer that keeps all
// facts, every request checked.
type option func(*app)

// withConfig changes the configuration of the compacting service. change may be nil.
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

// unchecked turns all checks of requests off.
func unchecked(a *app) { a.lenience.unchecked = true }

// strict asks for requests that every provider accepts, see refusals. Some features of ADK make others,
// without this module too.
func strict(a *app) { a.lenience.strict = true }

// endingContexts ends the context of each turn with the turn, as a server's request does.
func endingContexts(a *app) { a.requests = true }
