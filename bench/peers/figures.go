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
	// request, word for word or as a fact of a summary. Of the others, readable counts those whose
	// reference it holds and whose whole text storage returned, cut those shown cut to the writer, and
	// roughly those that a summary written without the writer may have lost. unread counts the results
	// that were missing from the first request after them, with no reference in their place, and trimmed
	// those of them that were shown in part, because no request could hold them.
	results, kept, readable, cut, roughly, unread, trimmed int
	// orphans counts calls without a response and responses without a call. over counts the prompts
	// larger than the window, and avoidable those of them that could have been smaller.
	// leaked counts texts of another branch, in all requests.
	orphans, over, avoidable, leaked int
	// prompt is the total of all requests in tokens, cached the part of it that the request before began
	// with, and largest the size of the largest request. breaks counts the requests that do not begin
	// with all of the request before.
	prompt, cached, largest, breaks int
	// calls counts requests for a summary, waited those for which a turn waited, tokens the tokens
	// they used, writerRead of them read and writerWrote written, and writerOver the calls larger than the
	// writer's window. rough counts summaries written without the model.
	calls, waited, tokens, writerRead, writerWrote, writerOver, rough int
	// before is the size in bytes of all requests but the last. same is the number of these bytes
	// with which the following request began.
	before, same int
	// keys is the largest number of session state keys at the end of any conversation, strayKeys that of
	// the keys besides the guard's, and writes counts writes of keys. events counts the stored events, and bytes is their size as JSON.
	keys, strayKeys, writes, events, bytes int
	took                                   time.Duration
}

func (f figures) add(o figures) figures {
	return figures{
		requests: f.requests + o.requests, missing: f.missing + o.missing, missingCut: f.missingCut + o.missingCut,
		results: f.results + o.results, kept: f.kept + o.kept, readable: f.readable + o.readable, cut: f.cut + o.cut, roughly: f.roughly + o.roughly, unread: f.unread + o.unread, trimmed: f.trimmed + o.trimmed,
		orphans: f.orphans + o.orphans, over: f.over + o.over, avoidable: f.avoidable + o.avoidable, leaked: f.leaked + o.leaked,
		prompt: f.prompt + o.prompt, cached: f.cached + o.cached, breaks: f.breaks + o.breaks, largest: max(f.largest, o.largest),
		calls: f.calls + o.calls, waited: f.waited + o.waited, tokens: f.tokens + o.tokens, writerRead: f.writerRead + o.writerRead, writerWrote: f.writerWrote + o.writerWrote, writerOver: f.writerOver + o.writerOver, rough: f.rough + o.rough,
		before: f.before + o.before, same: f.same + o.same,
		keys: max(f.keys, o.keys), strayKeys: max(f.strayKeys, o.strayKeys), writes: f.writes + o.writes, events: f.events + o.events, bytes: f.bytes + o.bytes,
		took: f.took + o.took,
	}
}

// priced is a model that has these prices.
const priced = "gemini-2.5-pro"

// Prices of a model in dollars per million tokens, as of Gemini 2.5 Pro and many others: a cached token
// costs a tenth.
const priceInput, priceCached, priceOutput = 1.25, 0.125, 10

// dollars is the price of all prompts, and of the summaries: reading and writing them. The agent's answers
// are the same for all ways, and left out.
func (f figures) dollars() float64 {
	return (float64(f.prompt-f.cached+f.writerRead)*priceInput + float64(f.cached)*priceCached + float64(f.writerWrote)*priceOutput) / 1e6
}
