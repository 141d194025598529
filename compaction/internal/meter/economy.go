package meter

import (
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Prices are what one token costs, in USD. The zero value means that the prices are not known.
type Prices struct {
	// Input and Cached are of a prompt of the agent's model: read anew, and from the provider's cache.
	Input, Cached float64
	// SummaryInput and SummaryOutput are of the model that writes summaries. Both are 0 if no model does.
	SummaryInput, SummaryOutput float64
	// Assumed says that nobody knows them, and only their ratios mean something.
	Assumed bool
}

// Decide reports whether prices decide, known or assumed.
func (p Prices) Decide() bool { return p.Input > 0 }

// usual are the prices that a model of unknown ones is taken to have. Only the ratios matter: of the models with prices
// in package tokens, a cached token costs a tenth to a half of another, and one of output four to eight times as much. Of
// these, the ratios were taken at which a compaction pays latest.
var usual = tokens.Model{InputPrice: 1, CachedInputPrice: 0.1, OutputPrice: 8}

// PricesOf are the prices of an agent's model and of the model that writes summaries, nil for none. If one of the two is
// not known, it is taken to be that of the other; normally, the agent's is an upper bound. A model without a cached
// price, or with one above its input price, pays its input price for all of a prompt.
func PricesOf(agent tokens.Model, summaries *tokens.Model) Prices {
	const million = 1e6
	assumed := false
	switch {
	case agent.Priced():
	case summaries != nil && summaries.Priced():
		agent = *summaries
	default:
		agent, assumed = usual, true
	}
	if summaries != nil && !summaries.Priced() {
		summaries = &agent
	}
	cached := agent.CachedInputPrice
	if cached <= 0 || cached > agent.InputPrice {
		cached = agent.InputPrice
	}
	p := Prices{Input: agent.InputPrice / million, Cached: cached / million, Assumed: assumed}
	if summaries != nil {
		p.SummaryInput, p.SummaryOutput = summaries.InputPrice/million, summaries.OutputPrice/million
	}
	return p
}

const (
	// cacheLife is for how long a provider keeps a prompt that nobody asks for. OpenAI and Anthropic document
	// 5 minutes; Gemini does not say.
	cacheLife = 5 * time.Minute
	// summaryPrompt is the summarizer's own prompt around a window: the text of the default template.
	summaryPrompt = 400
	// foreseen is the share of the calls so far that a session is taken to have ahead, as a divisor. If a session that
	// has run for n calls is as likely to have n more as not to, then four of five have n/4 more.
	foreseen = 4
	// minCompression is how many times as long as its summary a window must be, and the first of a session twice as
	// long. No price knows what a summary leaves out, so this is a judgment: of ten tokens, one stays. With the same for
	// the first window, short sessions pay for summaries just before they end, and with twice as much for all, long
	// ones of short turns cost a third more than need be; see "Economy" in BENCHMARKS.md.
	minCompression = 10
	// maxTail bounds how many of the newest events an account tells apart.
	maxTail = 256
)

// Economy is the arithmetic behind the economical trigger, for the prompts of one branch. Amounts are in USD. It is
// due under the conditions that compaction.Economy explains:
//
//	Window >= MinWindow
//	Saving >= Price
//	Held   >= Threshold
type Economy struct {
	// Priced says that the prices are known. If they are not, amounts are at the usual ones.
	Priced bool
	// Calls is how many calls of the model the branch has had, estimated for those that summaries hide.
	Calls int
	// Removable is how many estimated tokens a compaction would take out of the prompt.
	Removable int
	// Window is how many it would have summarized for that, and MinWindow the least that is worth a summary.
	Window, MinWindow int
	// Growth is how many tokens the view has grown by with each call that it shows.
	Growth float64
	// Held is what these, and those before them, have cost since the last compaction.
	Held float64
	// Saving is what the removable tokens will cost in a quarter as many calls as there were.
	Saving float64
	// Price is what a compaction would cost now. PriceRegular is the part of it that does not grow with the
	// window: every token is summarized once, however often a compaction comes.
	Price, PriceRegular float64
	// Threshold is what Held must reach: Price for the first compaction of a session, PriceRegular for any other.
	Threshold float64
	// CacheExpired says that the provider has dropped the prompt from its cache, so the next call reads all of
	// it anew with or without a compaction.
	CacheExpired bool
}

// Due reports whether a compaction pays now.
func (e Economy) Due() bool {
	return e.Removable > 0 && e.Window >= e.MinWindow && e.Saving >= e.Price && e.Held >= e.Threshold
}

// PaysFor reports whether a compaction pays now that summarizes a window of so many tokens. Events that must stay raw may
// leave less of it than was hoped for: they save nothing, and are read anew behind each new summary.
func (p Prompt) PaysFor(window int) bool {
	e := p.Economy
	if !e.Due() || window < e.MinWindow {
		return false
	}
	share := float64(window-(e.Window-e.Removable)) / float64(e.Removable)
	regular := e.PriceRegular + p.anew*float64(max(0, e.Window-window))
	price := regular + (e.Price-e.PriceRegular)*float64(window)/float64(e.Window)
	threshold := regular
	if e.Threshold > e.PriceRegular { // the first of a session pays for its window too
		threshold = price
	}
	return e.Saving*share >= price && e.Held*share >= threshold
}

// account follows what the history costs in one branch. An event costs the same to add however long the history
// is.
type account struct {
	retain int // how many of the newest events stay raw
	calls  int
	// hidden are the events that summaries stand for, and summaries the size of all of these.
	hidden, summaries, shown int
	raw                      int            // estimate of the other events
	tail                     [maxTail]int32 // of the newest events, a ring
	seen, tailed             int            // events, and estimate of those in the tail
	// again and anew are the removable tokens of all calls since the last compaction: those of calls that could read
	// them from a cache, and those of calls that could not.
	again, anew int
	last, now   time.Time // of the last call, and of the newest event
	// cached and cacheable are what the provider has reported, from its first report on: tokens read from its
	// cache, and tokens that it could have read. prompt is the size of the prompt before.
	cached, cacheable, prompt int
	model                     string // of the last call
}

// IsCall reports whether an event of a class is the answer of a call of an agent's model.
func IsCall(class adk.Class) bool {
	return class.Is(adk.ByAgent|adk.Speaks) && !class.Any(adk.Responds|adk.Remote)
}

// addSummary takes in a summary that the branch is shown.
func (a *account) addSummary(m *record.Metadata, size int) {
	a.hidden += m.EventCount
	a.summaries += size
	a.shown++
}

// restart notes that the newest event so far was the newest when a summary was planned: what is held counts from
// here on.
func (a *account) restart() { a.again, a.anew = 0, 0 }

// add takes in an event of the branch or of those above it. isCall says that it is a call of the branch itself.
func (a *account) add(ev *session.Event, size int, isCall bool, l *Limits) {
	if ev.Timestamp.After(a.now) { // a clock may go back
		a.now = ev.Timestamp
	}
	if isCall {
		a.call(ev, l)
	}
	if a.retain > 0 {
		slot := &a.tail[a.seen%a.retain]
		a.tailed += size - int(*slot)
		*slot = int32(size)
	}
	a.raw += size
	a.seen++
}

// call takes in the answer of a call: what the prompt behind it has cost that a compaction would have saved.
func (a *account) call(ev *session.Event, l *Limits) {
	expired := a.expired(l)
	a.calls++
	if expired {
		a.anew += a.removable(l)
	} else {
		a.again += a.removable(l)
	}
	a.last, a.model = a.now, l.Model
	usage := ev.UsageMetadata
	if usage == nil || usage.PromptTokenCount <= 0 {
		return
	}
	prompt, cached := int(usage.PromptTokenCount), max(0, int(usage.CachedContentTokenCount))
	if cached > prompt { // some adapters leave the cached part out of the prompt
		prompt += cached
	}
	if could := min(prompt, a.prompt); could > 0 && !expired && (cached > 0 || a.cached > 0) {
		a.cached += min(cached, could)
		a.cacheable += could
	}
	a.prompt = prompt
}

// expired reports whether the next call finds nothing in the provider's cache: it is the first, the last one was too
// long ago at the time of the newest event, or another model answered it.
func (a *account) expired(l *Limits) bool {
	return a.calls == 0 || a.now.Sub(a.last) > cacheLife || a.model != l.Model
}

// reading is what a token costs that the prompt before had in the same place: the cached price for the share that
// the provider reports as cached, and the full price for the rest. As long as it has reported nothing cached, all
// of it is taken to be.
func (a *account) reading(p Prices) float64 {
	if a.cacheable == 0 {
		return p.Cached
	}
	return p.Input - (p.Input-p.Cached)*float64(a.cached)/float64(a.cacheable)
}

// mayStayRaw is how many tokens a compaction by price leaves raw at most; 0 for no limit. Each call carries what stays
// raw and what waits to be summarized. Where the caller has not set a limit, the first may not cost more than the second.
func (a *account) mayStayRaw(l *Limits) int {
	if !l.RetainsHalf {
		return l.RetainTokens
	}
	return max(1, min(l.RetainTokens, a.raw/2))
}

// staysRaw is how many tokens a compaction would leave raw.
func (a *account) staysRaw(l *Limits) int {
	if most := a.mayStayRaw(l); most > 0 {
		return min(a.tailed, most)
	}
	return a.tailed
}

// window is how many tokens a compaction would summarize, and removable how many it would take out of the prompt.
func (a *account) window(l *Limits) int    { return a.raw - a.staysRaw(l) }
func (a *account) removable(l *Limits) int { return max(0, a.window(l)-l.SummaryTokens) }

// more is what a token costs more in the next prompt because a compaction changes that in front of it.
func (a *account) more(l *Limits) float64 {
	if a.calls > 0 && a.expired(l) { // it is read anew in any case
		return 0
	}
	return l.Prices.Input - a.reading(l.Prices)
}

// economy is the arithmetic for a compaction now.
func (a *account) economy(l *Limits) Economy {
	if !l.Prices.Decide() {
		return Economy{}
	}
	p, reading := l.Prices, a.reading(l.Prices)
	e := Economy{
		Priced: !l.Prices.Assumed, Calls: a.calls + a.hidden/2, Removable: a.removable(l), Window: a.window(l), Held: reading*float64(a.again) + p.Input*float64(a.anew),
		MinWindow: minCompression * l.SummaryTokens, CacheExpired: a.calls > 0 && a.expired(l),
	}
	if a.calls > 0 {
		e.Growth = float64(a.raw) / float64(a.calls)
	}
	summary := float64(l.SummaryTokens)
	anew := a.more(l)
	e.Saving = reading * float64(e.Removable) * float64(e.Calls) / foreseen
	if e.CacheExpired {
		e.Saving += (p.Input - reading) * float64(e.Removable)
		e.Held += p.Input * float64(e.Removable)
	}
	e.PriceRegular = p.Input*summary + anew*float64(a.staysRaw(l)) + p.SummaryInput*summaryPrompt + p.SummaryOutput*summary
	if l.MaxSummaries > 0 && a.shown >= l.MaxSummaries { // two of them are merged first
		e.PriceRegular += anew*float64(a.summaries) + p.SummaryInput*(summaryPrompt+2*summary) + p.SummaryOutput*summary
	}
	e.Price = e.PriceRegular + p.SummaryInput*float64(a.window(l))
	if l.PieceTokens > 0 { // each piece but the first is read with what was written before
		more := max(0, a.window(l)-1) / l.PieceTokens
		e.Price += float64(more) * (p.SummaryInput*(summaryPrompt+summary) + p.SummaryOutput*summary)
	}
	e.Threshold = e.PriceRegular
	if a.shown == 0 {
		e.Threshold, e.MinWindow = e.Price, 2*e.MinWindow
	}
	return e
}

// maxAhead bounds how many calls callsLeft looks ahead.
const maxAhead = 10_000

// callsLeft is after how many calls a compaction is due under the growth so far, -1 if that is not within sight.
func (a *account) callsLeft(l *Limits) int {
	now := a.economy(l)
	if !l.Prices.Decide() {
		return -1
	}
	ahead := *a
	ahead.last, ahead.model = ahead.now, l.Model
	for n := range maxAhead {
		if ahead.economy(l).Due() || n == 0 && now.Due() {
			return n
		}
		if ahead.again += ahead.removable(l); now.Growth <= 0 && ahead.removable(l) == 0 {
			return -1
		}
		ahead.calls++
		ahead.raw = a.raw + int(float64(n+1)*now.Growth)
	}
	return -1
}
