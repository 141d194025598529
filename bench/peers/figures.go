package main

import "time"

// figures are what came of conversations under one way. The zero value is that of none; all are sums
// unless something else is said.
type figures struct {
	// requests is how often the agent's model was asked. missing is on how many of these a message that
	// the user had sent neither stood there word for word nor was a fact of a summary, missingCut on how
	// many nothing but what was cut or lost so, as with results.
	requests, missing, missingCut int
	// results is how many results of tools came before the last request; kept how many of these it
	// showed, word for word or as a fact of a summary; cut how many of the others were shown cut to the
	// writer, roughly how many of the rest may have been lost by a summary without it; unread how many
	// were not shown by the first request after them.
	results, kept, cut, roughly, unread int
	// orphans are calls without a response and responses without a call. over is on how many requests
	// the prompt was larger than the window, avoidable how many of these need not have been.
	orphans, over, avoidable int
	// prompt is what all requests took in tokens, largest what the largest one took.
	prompt, largest int
	// calls is how often a summary was asked for, waited how often a turn waited for it, tokens what
	// these calls took, writerOver how many of them took more than the writer's window. rough is how many
	// summaries were written without the model.
	calls, waited, tokens, writerOver, rough int
	// before is the size of all requests but the last in bytes, same how many of these the next request
	// began with.
	before, same int
	// keys is how many keys of session state there were at the end of a conversation, at most; writes how
	// often one was written. events is how many events storage holds, bytes how large they are as JSON.
	keys, writes, events, bytes int
	took                        time.Duration
}

func (f figures) add(o figures) figures {
	return figures{
		requests: f.requests + o.requests, missing: f.missing + o.missing, missingCut: f.missingCut + o.missingCut,
		results: f.results + o.results, kept: f.kept + o.kept, cut: f.cut + o.cut, roughly: f.roughly + o.roughly, unread: f.unread + o.unread,
		orphans: f.orphans + o.orphans, over: f.over + o.over, avoidable: f.avoidable + o.avoidable,
		prompt: f.prompt + o.prompt, largest: max(f.largest, o.largest),
		calls: f.calls + o.calls, waited: f.waited + o.waited, tokens: f.tokens + o.tokens, writerOver: f.writerOver + o.writerOver, rough: f.rough + o.rough,
		before: f.before + o.before, same: f.same + o.same,
		keys: max(f.keys, o.keys), writes: f.writes + o.writes, events: f.events + o.events, bytes: f.bytes + o.bytes,
		took: f.took + o.took,
	}
}
