package replay

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/conversation"
	"github.com/adk-go-ext/longsession/internal/invariant"
	"github.com/adk-go-ext/longsession/record"
)

// maxProblems is how many violations a report spells out.
const maxProblems = 20

// run is a conversation that is being played under a policy.
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
	ref      compaction.SessionRef

	prompts []int // of each call
	last    lastPrompt

	// mu guards what the observer writes.
	mu        sync.Mutex
	calls     int            // that were made so far
	turn      int            // that runs
	stored    map[string]int // record -> index in marks
	marks     []Compaction
	unchecked bool // a record was stored since the view was checked
}

func playUnder(ctx context.Context, c *conversation.Conversation, opts Options, policy int, w *whole) (*Report, error) {
	r := &run{
		c: c, opts: opts, policy: opts.Policies[policy], whole: w, gauge: newGauge(), ref: refOf(c),
		stored: map[string]int{},
		report: &Report{
			File: c.File, Line: c.Line, ID: c.ID, Policy: opts.Policies[policy].Name,
			Turns: len(c.Turns), Messages: c.Messages(), Notes: c.Notes,
			Limit: opts.Policies[policy].Config.ContextWindow,
		},
	}
	if opts.Store != nil {
		r.inner = opts.Store(policy)
	}
	if r.inner == nil {
		r.inner = session.InMemoryService()
	}
	if err := r.wrap(); err != nil {
		return nil, err
	}
	r.scale = w.scale.under(opts.Fixed, r.report.Limit)
	played, err := r.play(ctx)
	if err != nil {
		return nil, err
	}
	return r.report, r.finish(ctx, played)
}

// wrap makes the compaction service of the policy.
func (r *run) wrap() error {
	if r.policy.Off {
		return nil
	}
	cfg := r.config()
	cfg.Observer = compaction.ObserverFunc(r.observe)
	var err error
	r.svc, err = compaction.NewCompactionService(r.inner, cfg)
	return err
}

func (r *run) config() compaction.Config {
	if r.policy.Recorded {
		return recordedConfig(r.policy.Config, r.c, &r.recorded)
	}
	return r.policy.Config
}

func (r *run) play(ctx context.Context) (Played, error) {
	app := App{Service: r.inner, Ref: r.ref, Request: r.request, Ratio: r.scale.ratio, Before: r.before}
	if r.svc != nil {
		app.Service = r.svc
	}
	played, err := Play(ctx, r.c, app)
	if r.svc == nil {
		return played, err
	}
	if closeErr := r.svc.Close(context.WithoutCancel(ctx)); err == nil {
		err = closeErr
	}
	return played, err
}

// before is called while the runner rests.
func (r *run) before(ctx context.Context, turn, step int) error {
	r.mu.Lock()
	r.turn = turn
	r.mu.Unlock()
	if r.svc != nil {
		if err := r.check(ctx); err != nil {
			return err
		}
		if err := r.mirror(ctx, turn, step); err != nil {
			return err
		}
	}
	return progress(r.c, r.opts.Progress)(ctx, turn, step)
}

// mirror compacts where the recorded application did, and as thoroughly: its summary took the place of all
// that was before.
func (r *run) mirror(ctx context.Context, turn, step int) error {
	if !r.policy.Mirror && !r.policy.Recorded {
		return nil
	}
	for _, theirs := range r.c.Compactions {
		if theirs.Turn != turn || theirs.Step != step {
			continue
		}
		done := r.recorded.at(theirs.Summary)
		_, err := r.svc.Compact(ctx, r.ref, compaction.CompactOptions{KeepEvents: 1})
		done()
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.problem(fmt.Errorf("compaction as recorded, turn %d: %w", turn+1, err))
		}
	}
	return nil
}

// request measures what the model gets.
func (r *run) request(call, turn int, req *model.LLMRequest) int {
	m := r.gauge.measure(req)
	// The model must count alike from call to call, as a provider does: recorded counts of single prompts
	// and estimates of others, side by side, would look as if tokens came and went.
	size := r.scale.of(m.size)
	counted := r.scale.at(call, m.size)
	r.prompts = append(r.prompts, counted)
	r.sum.add(counted, m.prefix, call, r.scale)
	r.report.Orphans += m.orphans
	if size > r.report.Limit {
		r.report.Over = append(r.report.Over, r.overlong(call, turn, size, m))
	}
	if call == lastCall(r.c) && len(r.c.Questions) > 0 {
		r.last = readPrompt(req)
	}
	r.mu.Lock()
	r.calls = call + 1
	r.mu.Unlock()
	return size
}

// observe notes what the compaction service does.
func (r *run) observe(_ context.Context, o compaction.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := &r.report.Summarizer
	if o.Usage.Total() > 0 {
		sum.Calls++
		sum.PromptTokens += o.Usage.PromptTokens
		sum.OutputTokens += o.Usage.OutputTokens
		if r.opts.SummaryModel.Priced() {
			sum.Dollars += r.opts.SummaryModel.Cost(o.Usage)
		} else {
			sum.Dollars += o.Cost
		}
	}
	switch o.Outcome {
	case compaction.Stored:
		r.unchecked = true
		r.stored[o.RecordID] = len(r.marks)
		r.marks = append(r.marks, Compaction{
			Call: r.calls, Turn: r.turn + 1, Trigger: string(o.Trigger),
			Events: o.Events, OriginalTokens: o.TokensBefore, CompactedTokens: o.TokensAfter,
		})
	case compaction.Failed:
		sum.Failed++
	}
}

// check holds the view to what every view must keep, if a record was stored since it was last held.
func (r *run) check(ctx context.Context) error {
	r.mu.Lock()
	due := r.unchecked
	r.unchecked = false
	r.mu.Unlock()
	if !due {
		return nil
	}
	raw, err := r.svc.Raw(ctx, r.get())
	if err != nil {
		return err
	}
	view, err := r.svc.Get(ctx, r.get())
	if err != nil {
		return err
	}
	r.holdTo(eventsOf(raw.Session), eventsOf(view.Session))
	return nil
}

// holdTo reports what is wrong with a view of events. A service that reads a file gives other pointers
// each time, and the check tells events apart by theirs.
func (r *run) holdTo(events, view []*session.Event) {
	byID := map[string]*session.Event{}
	for _, ev := range events {
		if !record.Is(ev) {
			byID[ev.ID] = ev
		}
	}
	for i, ev := range view {
		if stored, ok := byID[ev.ID]; ok {
			view[i] = stored
		}
	}
	r.problem(invariant.Check(events, view))
}

func (r *run) problem(err error) {
	if err == nil {
		return
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, one := range all {
		r.report.Hidden++
		if len(r.report.Problems) < maxProblems {
			r.report.Problems = append(r.report.Problems, one.Error())
		}
	}
}

func (r *run) get() *session.GetRequest {
	return &session.GetRequest{AppName: r.ref.AppName, UserID: r.ref.UserID, SessionID: r.ref.SessionID}
}

func eventsOf(sess session.Session) []*session.Event {
	var events []*session.Event
	for ev := range sess.Events().All() {
		events = append(events, ev)
	}
	return events
}

// finish fills in what is known at the end.
func (r *run) finish(ctx context.Context, played Played) error {
	rep, w := r.report, r.whole
	rep.Without = w.sent(r.c, r.scale, r.opts.Model)
	rep.With = r.sum.sent(r.c, played, r.opts.Model)
	rep.SavedPercent = saved(rep.Without, rep.With)
	rep.Counts = Counts{Recorded: r.scale.counted(), Ratio: r.scale.ratio, Fixed: int(r.scale.fixed), Left: r.scale.leftOut}
	for i, size := range r.prompts {
		point := Call{With: size}
		if i < len(w.calls) {
			point.Turn, point.Without = w.turns[i]+1, r.scale.at(i, w.calls[i].size)
		}
		rep.Calls = append(rep.Calls, point)
	}
	rep.Recorded = r.atRecorded()
	if len(r.c.Questions) > 0 {
		rep.Facts = r.facts()
	}
	raw, err := r.inner.Get(ctx, r.get())
	if err != nil {
		return err
	}
	events := eventsOf(raw.Session)
	rep.Events = len(events)
	if r.svc != nil {
		view, err := r.viewAtTheEnd(ctx)
		if err != nil {
			return err
		}
		r.holdTo(events, view)
	}
	r.compactions(events)
	return nil
}

// viewAtTheEnd reads the view anew, as a process does that opens the session tomorrow.
func (r *run) viewAtTheEnd(ctx context.Context) ([]*session.Event, error) {
	svc, err := compaction.NewCompactionService(r.inner, r.config())
	if err != nil {
		return nil, err
	}
	view, err := svc.Get(ctx, r.get())
	if err != nil {
		return nil, err
	}
	return eventsOf(view.Session), svc.Close(ctx)
}

// compactions completes the marks with what the records say.
func (r *run) compactions(events []*session.Event) {
	for _, ev := range events {
		m, err := record.From(ev)
		if err != nil || m == nil {
			continue
		}
		i, ok := r.stored[m.RecordID]
		if !ok {
			continue
		}
		mark := &r.marks[i]
		mark.Kind, mark.Level = string(m.Kind), m.Level
		mark.OriginalTokens, mark.CompactedTokens = m.OriginalTokens, m.CompactedTokens
		mark.Summary, _ = m.Text() // a record of our own has one
	}
	r.report.Compactions = r.marks
}

// atRecorded compares prompts where the recorded application compacted.
func (r *run) atRecorded() []AtRecorded {
	var found []AtRecorded
	for _, theirs := range r.c.Compactions {
		call := callOf(r.c, theirs.Turn, theirs.Step)
		if call >= len(r.prompts) {
			continue
		}
		at := AtRecorded{Call: call, Turn: theirs.Turn + 1, Trigger: theirs.Trigger, Before: theirs.PromptTokens, Ours: r.prompts[call]}
		if steps := r.c.Turns[theirs.Turn].Steps; theirs.Step < len(steps) {
			at.Theirs = steps[theirs.Step].PromptTokens
		}
		if r.scale.leftOut { // theirs includes it
			at.Ours += int(r.scale.fixed)
		}
		found = append(found, at)
	}
	return found
}

// callOf is the index of the model call for a step.
func callOf(c *conversation.Conversation, turn, step int) int {
	n := step
	for _, t := range c.Turns[:turn] {
		n += max(1, len(t.Steps))
	}
	return n
}
