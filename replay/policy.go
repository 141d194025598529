package replay

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// Policy is one way of keeping a conversation short.
type Policy struct {
	// Name identifies the policy in reports. It may be empty.
	Name string
	// Config configures the compaction service, as the app does. Its context window must be known:
	// set ContextWindow, or name a model that Config.Registry or the built-in table knows. With
	// When AsConfigured or AlsoWhereRecorded, Summarizer or Model must be set.
	//
	// Set Synchronous for reports that are the same in every run. Without it, the time at which a
	// background job ends decides where a summary is stored.
	Config compaction.Config
	// Layers are the other layers of the front door, with their settings: what shortens tool results,
	// and what keeps requests within the window. Its Model and Compaction are ignored, in favor of
	// Config. If nil, compaction is the only layer. Report.Layers has what they did.
	Layers *longsession.Config
	// When is when the policy compacts. The zero value is AsConfigured.
	When When
	// Service stores the session, as AppName/UserID/the conversation's ID, and keeps it. The
	// session must not exist. If nil, the session is kept in memory and dropped.
	Service session.Service
}

// When is when a [Policy] compacts.
type When int

const (
	// AsConfigured compacts when the triggers of Policy.Config fire.
	AsConfigured When = iota
	// Never plays without compaction, except by the budget where Policy.Layers has it. The limit of
	// the report is still that of Policy.Config.
	Never
	// AsRecorded compacts where the recorded application did, and nowhere else, with the recorded
	// summaries.
	AsRecorded
	// AlsoWhereRecorded compacts as configured and, in addition, where the recorded application
	// did.
	AlsoWhereRecorded
)

// Fixed is how many tokens every prompt has in addition to the messages: instructions and tool
// declarations of the recorded application that the recording does not contain. It is a number of
// tokens or one of the constants. Zero adds none.
type Fixed int

const (
	// FixedAuto takes the number that the recording's token counts show, unless that is more than
	// half of the context window. Then it adds none, and the report has Counts.Left.
	FixedAuto Fixed = -1
	// FixedRecorded takes the number that the recording's token counts show.
	FixedRecorded Fixed = -2
)

// Options of [Play] and [Compare]. The zero value is usable.
type Options struct {
	// Facts must survive: words of the conversation, such as a booking code, that must still be in
	// a message or in a summary when the conversation ends. A fact matches whole words in any case.
	// Each one that is gone is in Report.Lost. A fact that the conversation never mentions is an
	// error.
	Facts []string
	// Model has the prices of the agent's model, in dollars per million tokens. Without prices, all
	// dollars of a report are 0.
	Model tokens.Model
	// SummaryModel has the prices of the model that writes summaries. Without prices, a report
	// takes the cost that the compaction service reports, and Model's prices for summaries that no
	// model wrote.
	SummaryModel tokens.Model
	// Registry knows the context windows of recorded models. A recorded count above the window
	// cannot be right, and is ignored. If nil, the built-in table is used.
	Registry *tokens.Registry
	// Fixed is how many tokens every prompt has in addition to the messages.
	Fixed Fixed
	// Watchdog looks for agents that go in circles in the recorded calls, in every mode but Off: see
	// Report.Alerts and Report.WouldStop. Nothing is stopped. If nil, replay looks for neither.
	Watchdog *watchdog.Config
	// Ceiling is a ceiling for the cost of a session, summaries included. Report.WouldStop says where it
	// would have stopped the conversation, which is played to its end. It needs Model's prices. 0 is
	// none.
	Ceiling tokens.Nano
	// Progress receives the number of messages played since the previous call: each message once
	// for the run without compaction and once for each policy. Concurrent calls of [Play] that
	// share Progress call it concurrently. It may be nil.
	Progress func(messages int)
}

// AppName and UserID are the app and the user of the sessions that [Play] and [Compare] store.
const (
	AppName = "replay"
	UserID  = "replay"
)

// Play plays c without compaction and then under one policy, through the real ADK runner, and
// reports both. It neither changes nor keeps c. It is safe for concurrent use.
//
// Errors come from the policy's configuration and service, from the runner and from ctx.
func Play(ctx context.Context, c *conversation.Conversation, policy Policy, opts Options) (*Report, error) {
	reports, err := Compare(ctx, c, []Policy{policy}, opts)
	if err != nil {
		return nil, err
	}
	return reports[0], nil
}

// Compare is [Play] for several policies. It plays c without compaction once, and returns one
// report for each policy, in their order.
func Compare(ctx context.Context, c *conversation.Conversation, policies []Policy, opts Options) ([]*Report, error) {
	windows := make([]int, len(policies))
	for i, policy := range policies {
		var known bool
		if windows[i], known = contextWindow(ctx, policy.Config, refOf(c)); !known {
			return nil, fmt.Errorf("policy %q: the context window is unknown: set Config.ContextWindow, or name a model that Config.Registry knows", policy.Name)
		}
	}
	if err := checkFacts(opts.Facts, c); err != nil {
		return nil, err
	}
	whole, err := playWhole(ctx, c, opts)
	if err != nil {
		return nil, err
	}
	reports := make([]*Report, len(policies))
	for i, policy := range policies {
		if reports[i], err = playUnder(ctx, c, policy, windows[i], opts, whole); err != nil {
			return nil, fmt.Errorf("policy %q: %w", policy.Name, err)
		}
	}
	return reports, nil
}

// contextWindow is the window of the agent's model, found as the compaction service finds it.
func contextWindow(ctx context.Context, cfg compaction.Config, ref compaction.SessionRef) (window int, known bool) {
	if cfg.ContextWindow != 0 {
		return cfg.ContextWindow, cfg.ContextWindow > 0
	}
	name := cfg.AgentModel
	switch {
	case cfg.AgentModelFunc != nil:
		name = cfg.AgentModelFunc(ctx, ref)
	case name == "" && cfg.Model != nil:
		name = cfg.Model.Name()
	}
	return cfg.Registry.Window(name)
}

// whole is the result of playing a conversation with its whole history in every prompt.
type whole struct {
	times  []time.Time // of each call, nil if unknown
	calls  []measured
	turns  []int      // of each call, from 0
	last   lastPrompt // read only if the conversation has questions
	scale  scale
	played Played
}

func playWhole(ctx context.Context, c *conversation.Conversation, opts Options) (*whole, error) {
	w := &whole{times: times(c)}
	g := newGauge()
	last := lastCall(c)
	var err error
	w.played, err = App{
		Service: session.InMemoryService(),
		Ref:     refOf(c),
		Request: func(call, turn int, req *model.LLMRequest) int {
			w.calls = append(w.calls, g.measure(req))
			w.turns = append(w.turns, turn)
			if call == last && len(c.Questions) > 0 {
				w.last = readPrompt(req)
			}
			return 0
		},
		Before: progress(c, opts.Progress),
	}.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	estimates := make([]int, len(w.calls))
	for i, m := range w.calls {
		estimates[i] = m.size
	}
	known, _ := opts.Registry.Lookup(c.Model)
	w.scale = newScale(estimates, recordedPrompts(c), known.ContextWindow)
	return w, nil
}

// usages are those of all calls, counted with the scale of a policy, without the answers.
func (w *whole) usages(s scale) []tokens.Usage {
	all := make([]tokens.Usage, len(w.calls))
	for i, m := range w.calls {
		size := s.at(i, m.size)
		all[i] = tokens.Usage{PromptTokens: size, CachedTokens: min(size, w.cached(i, m.prefix, s))}
	}
	return all
}

// sent adds up the requests, counted with the scale of a policy.
func (w *whole) sent(c *conversation.Conversation, s scale, price tokens.Model) Sent {
	var sum sum
	for _, usage := range w.usages(s) {
		sum.add(usage.PromptTokens, usage.CachedTokens)
	}
	return sum.sent(c, w.played, price)
}

// cached is how much of the prompt of a call a cache can serve, in tokens: nothing of the first, and nothing after a
// pause that no cache survives.
func (w *whole) cached(call, prefix int, s scale) int {
	if call == 0 || expired(w.times, call) {
		return 0
	}
	return s.of(prefix)
}

// sum adds up requests, in tokens.
type sum struct{ prompt, cached, largest int }

func (s *sum) add(size, cached int) {
	s.prompt += size
	s.largest = max(s.largest, size)
	s.cached += min(size, cached)
}

func (s *sum) sent(c *conversation.Conversation, played Played, price tokens.Model) Sent {
	output := 0
	for _, turn := range c.Turns {
		for _, step := range turn.Steps {
			output += outputTokens(step)
		}
		if len(turn.Steps) == 0 {
			output += tokens.Estimate(placeholder)
		}
	}
	return Sent{
		ModelCalls:    played.Calls,
		PromptTokens:  s.prompt,
		CachedTokens:  s.cached,
		OutputTokens:  output,
		LargestPrompt: s.largest,
		Dollars:       price.Cost(tokens.Usage{PromptTokens: s.prompt, CachedTokens: s.cached, OutputTokens: output}),
	}
}

func refOf(c *conversation.Conversation) compaction.SessionRef {
	return compaction.SessionRef{AppName: AppName, UserID: UserID, SessionID: c.ID}
}

// lastCall is the index of the last model call that the recording needs.
func lastCall(c *conversation.Conversation) int {
	n := 0
	for _, turn := range c.Turns {
		n += max(1, len(turn.Steps))
	}
	return n - 1
}

// progress reports the messages that belong to each model call: the user's message to the first
// call of a turn, and the answer and its responses to each.
func progress(c *conversation.Conversation, report func(int)) func(context.Context, int, int) error {
	return func(_ context.Context, turn, step int) error {
		if report == nil {
			return nil
		}
		n := 0
		if step == 0 {
			n++
		}
		if step < len(c.Turns[turn].Steps) {
			n += 1 + len(c.Turns[turn].Steps[step].Responses)
		}
		report(n)
		return nil
	}
}
