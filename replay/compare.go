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
	// Name tells it from others in reports.
	Name string
	// Config is that of the compaction service. ContextWindow must be set; Summarizer or Model too, unless
	// Off or Recorded. Without Synchronous, where compactions happen depends on how fast the machine is.
	Config compaction.Config
	// Off plays without compaction.
	Off bool
	// Recorded compacts where the recording was compacted, and nowhere else, with the recorded summary.
	Recorded bool
	// Mirror compacts where the recording was compacted, beside what Config says.
	Mirror bool
}

// Fixed says how many tokens a prompt has beside the messages: instructions and tool declarations of the
// recorded application that the recording does not hold. It is a number of tokens or one of the constants.
type Fixed int

const (
	// FixedAuto takes what the recording's counts tell, if that is at most half of the context window.
	FixedAuto Fixed = -1
	// FixedRecorded takes what the recording's counts tell.
	FixedRecorded Fixed = -2
)

// Options of [Compare]. The zero value of each is usable.
type Options struct {
	// Policies to compare; each gives a report.
	Policies []Policy
	// Model has the prices of the agent's model; without any, dollars are 0. SummaryModel has those of the
	// model that writes summaries; without any, what the compaction service says they cost is taken, and
	// Model's prices for summaries that no model wrote.
	Model, SummaryModel tokens.Model
	// Fixed as described there.
	Fixed Fixed
	// Store returns where a policy's session is stored; nil, or a nil service, is in memory. The session
	// is named App/User/the conversation's ID, and stays there.
	Store func(policy int) session.Service
	// Progress is told how many messages were played since it was told last; from several goroutines.
	// May be nil.
	Progress func(messages int)
}

// App and user under which conversations are stored.
const (
	AppName = "replay"
	UserID  = "replay"
)

// Compare plays a conversation without compaction and under each policy, and reports each, in the order
// of Options.Policies. The conversation is not changed. It is safe for concurrent use.
func Compare(ctx context.Context, c *conversation.Conversation, opts Options) ([]*Report, error) {
	for _, policy := range opts.Policies {
		if policy.Config.ContextWindow <= 0 {
			return nil, fmt.Errorf("policy %q: the context window is %d tokens: set Config.ContextWindow", policy.Name, policy.Config.ContextWindow)
		}
	}
	whole, err := playWhole(ctx, c, opts)
	if err != nil {
		return nil, err
	}
	reports := make([]*Report, len(opts.Policies))
	for i, policy := range opts.Policies {
		if reports[i], err = playUnder(ctx, c, opts, i, whole); err != nil {
			return nil, fmt.Errorf("policy %q: %w", policy.Name, err)
		}
	}
	return reports, nil
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
	w.played, err = Play(ctx, c, App{
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
	})
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
