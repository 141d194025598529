package replay

import (
	"context"
	"fmt"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// Policy is one way of keeping a conversation short.
type Policy struct {
	// Name identifies the policy in reports. It may be empty.
	Name string
	// Config configures the compaction service, as the app does. Its context window must be known: set
	// ContextWindow, or name a model that Config.Registry or the built-in table knows. With When
	// AsConfigured or AlsoWhereRecorded, Summarizer or Model must be set.
	//
	// Set Synchronous for reports that are the same in every run. Without it, the time at which a
	// background job ends decides where a summary is stored.
	Config compaction.Config
	// When is when the policy compacts. The zero value is AsConfigured.
	When When
	// Service stores the session, as AppName/UserID/the conversation's ID, and keeps it. The session
	// must not exist. If nil, the session is kept in memory and dropped.
	Service session.Service
}

// When is when a [Policy] compacts.
type When int

const (
	// AsConfigured compacts when the triggers of Policy.Config fire.
	AsConfigured When = iota
	// Never plays without compaction. The limit of the report is still that of Policy.Config.
	Never
	// AsRecorded compacts where the recorded application did, and nowhere else, with the recorded summaries.
	AsRecorded
	// AlsoWhereRecorded compacts as configured and, in addition, where the recorded application did.
	AlsoWhereRecorded
)

// Fixed says how many tokens a prompt has beside the messages: instructions and tool declarations of the
// recorded application that the recording does not hold. It is a number of tokens or one of the constants.
type Fixed int

const (
	// FixedAuto takes what the recording's counts tell, if that is at most half of the context window.
	FixedAuto Fixed = -1
	// FixedRecorded takes what the recording's counts tell.
	FixedRecorded Fixed = -2
)

// Options of [Play] and [Compare]. The zero value is usable.
type Options struct {
	// Model has the prices of the agent's model; without any, dollars are 0. SummaryModel has those of the
	// model that writes summaries; without any, what the compaction service says they cost is taken, and
	// Model's prices for summaries that no model wrote.
	Model, SummaryModel tokens.Model
	// Fixed as described there.
	Fixed Fixed
	// Progress is told how many messages were played since it was told last; from several goroutines.
	// May be nil.
	Progress func(messages int)
}

// App and user under which conversations are stored.
const (
	AppName = "replay"
	UserID  = "replay"
)

// Play plays c without compaction and then under one policy, through the real ADK runner, and reports both.
// It neither changes nor keeps c. It is safe for concurrent use.
//
// Errors come from the policy's configuration and service, from the runner and from ctx.
func Play(ctx context.Context, c *conversation.Conversation, policy Policy, opts Options) (*Report, error) {
	reports, err := Compare(ctx, c, []Policy{policy}, opts)
	if err != nil {
		return nil, err
	}
	return reports[0], nil
}

// Compare is [Play] for several policies. It plays c without compaction once, and returns one report for
// each policy, in their order.
func Compare(ctx context.Context, c *conversation.Conversation, policies []Policy, opts Options) ([]*Report, error) {
	windows := make([]int, len(policies))
	for i, policy := range policies {
		var known bool
		if windows[i], known = contextWindow(ctx, policy.Config, refOf(c)); !known {
			return nil, fmt.Errorf("policy %q: the context window is unknown: set Config.ContextWindow, or name a model that Config.Registry knows", policy.Name)
		}
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

// whole is a conversation played with all of its history in every prompt.
type whole struct {
	calls  []measured
	turns  []int // of each call
	last   lastPrompt
	scale  scale
	played Played
}

func playWhole(ctx context.Context, c *conversation.Conversation, opts Options) (*whole, error) {
	w := &whole{}
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
	known, _ := tokens.Lookup(c.Model)
	w.scale = newScale(estimates, recordedPrompts(c), known.ContextWindow)
	return w, nil
}

// sent sums the requests as they are counted under a policy.
func (w *whole) sent(c *conversation.Conversation, s scale, price tokens.Model) Sent {
	var sum sum
	for i, m := range w.calls {
		sum.add(s.at(i, m.size), m.prefix, i, s)
	}
	return sum.sent(c, w.played, price)
}

// sum of requests.
type sum struct{ prompt, cached, largest int }

func (s *sum) add(size, prefix, call int, scale scale) {
	s.prompt += size
	s.largest = max(s.largest, size)
	if call > 0 { // the first finds no cache
		s.cached += min(size, scale.of(prefix))
	}
}

func (s *sum) sent(c *conversation.Conversation, played Played, price tokens.Model) Sent {
	output := 0
	for _, turn := range c.Turns {
		for _, step := range turn.Steps {
			output += outputTokens(step)
		}
		if len(turn.Steps) == 0 {
			output += tokens.Estimate(standIn)
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

// lastCall is the index of the last model call that the recording asks for.
func lastCall(c *conversation.Conversation) int {
	n := 0
	for _, turn := range c.Turns {
		n += max(1, len(turn.Steps))
	}
	return n - 1
}

// progress tells how many messages each model call stands for.
func progress(c *conversation.Conversation, tell func(int)) func(context.Context, int, int) error {
	return func(_ context.Context, turn, step int) error {
		if tell == nil {
			return nil
		}
		n := 0
		if step == 0 {
			n++
		}
		if step < len(c.Turns[turn].Steps) {
			n += 1 + len(c.Turns[turn].Steps[step].Responses)
		}
		tell(n)
		return nil
	}
}
