package main

import "time"

// figures are the results of conversations played one way. All are sums unless stated otherwise.
// The zero value is the result of no conversations.
type figures struct {
	// requests counts the requests to the agent's model. missing counts the requests that lacked a
	// message of the user, both word for word and as a fact of a summary. missingCut counts those
	// of them whose missing messages were all cut or rough, as explained for results.
	requests, missing, missingCut int
	// results counts the tool results before the last request. kept counts those in the last
	// request, word for word or as a fact of a summary. Of the others, cut counts those shown cut
	// to the writer, and roughly those that a summary written without the writer may have lost.
	// unread counts the results that were missing from the first request after them.
	results, kept, cut, roughly, unread int
	// orphans counts calls without a response and responses without a call. over counts the prompts
	// larger than the window, and avoidable those of them that could have been smaller.
	orphans, over, avoidable int
	// prompt is the total of all requests in tokens, and largest the size of the largest request.
	prompt, largest int
	// calls counts requests for a summary, waited those for which a turn waited, tokens the tokens
	// they used, and writerOver those larger than the writer's window. rough counts summaries
	// written without the model.
	calls, waited, tokens, writerOver, rough int
	// before is the size in bytes of all requests but the last. same is the number of these bytes
	// with which the following request began.
	before, same int
	// keys is the largest number of session state keys at the end of any conversation, and writes
	// counts writes of keys. events counts the stored events, and bytes is their size as JSON.
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
