package replay

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// run plays one conversation under one policy.
type run struct {
	c      *conversation.Conversation
	opts   Options
	policy Policy
	whole  *whole
	scale  scale
	gauge  *gauge
	report *Report
	sum    sum

	inner    session.Service
	recorded recorded
	svc      *compaction.CompactionSessionService // nil without compaction
	layers   *layering                            // nil without other layers; svc is then theirs
	ref      compaction.SessionRef

	prompts []int          // tokens of each call
	usages  []tokens.Usage // the same with what a cache could serve, without the answers
	// overAsRecorded counts prompts that are over the limit by the recording's counts, but not by
	// those that the library got.
	overAsRecorded int
	last           lastPrompt
	said           []string // what people said in each turn so far
	words          Sent     // how much of it stands in the requests

	// mu guards the fields below and the report's Summarizer. The observer writes them.
	mu        sync.Mutex
	calls     int            // calls so far
	turn      int            // the running turn, from 0
	stored    map[string]int // record ID -> index in made
	made      []Compaction
	unchecked bool // a record was stored since the last check of the view
	spends    []spend
	failure   error // of the first compaction that failed
}

func playUnder(ctx context.Context, c *conversation.Conversation, policy Policy, window int, opts Options, w *whole) (*Report, error) {
	r := &run{
		c: c, opts: opts, policy: policy, whole: w, gauge: newGauge(), ref: refOf(c),
		inner: policy.Service, stored: map[string]int{},
		report: &Report{
			File: c.File, Line: c.Line, ID: c.ID, Policy: policy.Name,
			Turns: len(c.Turns), Messages: c.Messages(), Notes: slices.Clone(c.Notes),
			Limit: window - max(0, policy.Config.MaxOutputTokens),
		},
	}
	if r.inner == nil {
		r.inner = session.InMemoryService()
	}
	if err := r.wrap(window); err != nil {
		return nil, err
	}
	r.scale = w.scale.under(opts.Fixed, r.report.Limit)
	played, err := r.play(ctx)
	if err != nil {
		return nil, err
	}
	return r.report, r.finish(ctx, played)
}

// wrap creates the compaction service of the policy, and the layers around it.
func (r *run) wrap(window int) error {
	if r.policy.When == Never && r.policy.Layers == nil {
		return nil
	}
	cfg := r.config()
	cfg.Observer = r.observe
	if cfg.Summarizer != nil {
		cfg.Summarizer = chargeFor(cfg.Summarizer, r.opts.SummaryModel.Name, r.charge)
	}
	var err error
	if r.policy.Layers == nil {
		r.svc, err = compaction.NewCompactionService(r.inner, cfg)
		return err
	}
	if r.layers, err = newLayering(r, cfg, window); err == nil {
		r.svc = r.layers.stack.Sessions
	}
	return err
}

func (r *run) config() compaction.Config {
	switch r.policy.When {
	case AsRecorded:
		return recordedConfig(r.policy.Config, r.c, &r.recorded)
	case Never:
		return withoutTriggers(r.policy.Config)
	}
	return r.policy.Config
}

func (r *run) play(ctx context.Context) (Played, error) {
	app := App{Service: r.inner, Ref: r.ref, Request: r.request, Ratio: r.scale.ratio, Before: r.before}
	if r.svc != nil {
		app.Service = r.svc
	}
	if r.layers != nil {
		app.Model, app.Plugins = r.layers.model, r.layers.stack.PluginConfig().Plugins
	}
	played, err := app.Run(ctx, r.c)
	if r.svc == nil {
		return played, err
	}
	closing := r.svc.Close
	if r.layers != nil {
		closing = r.layers.stack.Close
	}
	if closeErr := closing(context.WithoutCancel(ctx)); err == nil {
		err = closeErr
	}
	return played, err
}

// before runs between two steps of the runner, so no append is under way.
func (r *run) before(ctx context.Context, turn, step int) error {
	r.mu.Lock()
	r.turn = turn
	r.mu.Unlock()
	if r.svc != nil {
		if err := r.checkIfDue(ctx); err != nil {
			return err
		}
		if err := r.compactAsRecorded(ctx, turn, step); err != nil {
			return err
		}
	}
	return progress(r.c, r.opts.Progress)(ctx, turn, step)
}

// compactAsRecorded compacts where the recorded application did, and as thoroughly: its summary
// replaced everything before it.
func (r *run) compactAsRecorded(ctx context.Context, turn, step int) error {
	if r.policy.When != AsRecorded && r.policy.When != AlsoWhereRecorded {
		return nil
	}
	for _, theirs := range r.c.Compactions {
		if theirs.Turn != turn || theirs.Step != step {
			continue
		}
		done := r.recorded.at(theirs.Summary)
		result, err := r.svc.Compact(ctx, r.ref, compaction.CompactOptions{KeepEvents: 1})
		done()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.note("compaction as recorded, turn %d: %v", turn+1, err)
		case result.Skipped:
			r.note("compaction as recorded, turn %d, left out: %s", turn+1, result.Reason)
		}
	}
	return nil
}

// request measures a request, and returns the count that the model reports for it.
func (r *run) request(call, turn int, req *model.LLMRequest) int {
	m := r.gauge.measure(req)
	if r.layers != nil {
		r.layers.note(req)
	}
	// The model must count every prompt in the same way, as a provider does. If it reported the
	// recorded count of one prompt and an estimate of the next, tokens would seem to come and go.
	size := r.scale.of(m.size)
	counted := r.scale.at(call, m.size)
	r.prompts = append(r.prompts, counted)
	before := r.sum
	r.sum.add(counted, r.whole.cached(call, m.prefix, r.scale))
	r.usages = append(r.usages, tokens.Usage{PromptTokens: counted, CachedTokens: r.sum.cached - before.cached})
	r.report.Orphans += m.orphans
	switch {
	case size > r.report.Limit:
		r.report.Over = append(r.report.Over, r.overlong(call, turn, size, m.declared, req))
	case counted > r.report.Limit:
		r.overAsRecorded++
	}
	if call == lastCall(r.c) && len(r.c.Questions) > 0 {
		r.last = readPrompt(req)
	}
	r.mu.Lock()
	r.calls = call + 1
	compacted := len(r.made) > 0
	r.mu.Unlock()
	if compacted {
		countSaid(r, turn, req)
	}
	return size
}

func (r *run) note(format string, args ...any) {
	r.report.Notes = append(r.report.Notes, fmt.Sprintf(format, args...))
}

func (r *run) get() *session.GetRequest {
	return &session.GetRequest{AppName: r.ref.AppName, UserID: r.ref.UserID, SessionID: r.ref.SessionID}
}
