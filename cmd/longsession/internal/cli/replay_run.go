package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// replaying is one run of the command.
type replaying struct {
	plan     *plan
	inputs   []input
	stdin    io.Reader
	report   report
	page     *page  // nil without --html
	store    *store // nil without --db
	progress *progress
	sum      *summary
	compare  compareFunc
}

// compareFunc is [replay.Compare], or what a test puts in its place.
type compareFunc func(context.Context, *conversation.Conversation, []replay.Policy, replay.Options) ([]*replay.Report, error)

// replayFiles checks everything that can be checked before the first conversation is played, and plays.
func replayFiles(cmd *cobra.Command, s *settings, args []string, compare compareFunc) (err error) {
	ctx := cmd.Context()
	p, err := newPlan(ctx, s, cmd.Flags().Changed)
	if err != nil {
		return err
	}
	r := &replaying{plan: p, stdin: cmd.InOrStdin(), sum: newSummary(p), compare: compare}
	if r.inputs, err = checkInputs(args); err != nil {
		return err
	}
	if err := keepsInputs(s, r.inputs); err != nil {
		return err
	}
	if s.html != "" {
		if r.page, err = newPage(s.html, r.inputs); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.page.cleanup()) }()
	}
	if s.db != "" {
		if r.store, err = openStore(ctx, s.db, s.force); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.store.close()) }()
	}
	out := &output{to: cmd.OutOrStdout()}
	r.report = newTextReport(p, screenOf(cmd.OutOrStdout()), out)
	if s.json {
		r.report = newJSONReport(p, out)
	}
	r.progress = newProgress(cmd.ErrOrStderr(), r.inputs, s.quiet)
	defer r.progress.finish()
	return r.run(ctx)
}

// run plays everything and reports it. What was done is reported also if the run ends early.
func (r *replaying) run(ctx context.Context) error {
	if err := r.report.begin(); err != nil {
		return err
	}
	w := workers{play: r.play, jobs: r.plan.settings.jobs}
	err := w.run(ctx, r.read(ctx), r.done)
	r.sum.complete = err == nil
	r.progress.finish()
	if endErr := r.report.end(r.sum); endErr != nil {
		return errors.Join(endErr, err)
	}
	if err != nil {
		return r.endedEarly(ctx, err)
	}
	if r.page != nil && r.sum.conversations() > 0 {
		if err := r.page.write(r.plan, r.sum); err != nil {
			return err
		}
	}
	return r.verdict()
}

// endedEarly says what was done by then.
func (r *replaying) endedEarly(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	text := fmt.Sprintf("interrupted: %s done", plural(r.sum.conversations(), "conversation"))
	if r.page != nil {
		text += fmt.Sprintf("; %s was not written", r.plan.settings.html)
	}
	return &exitError{exitInterrupted, errors.New(text)}
}

// verdict is how a run that came to its end ends.
func (r *replaying) verdict() error {
	s := r.plan.settings
	switch {
	case r.sum.leftOut > 0 && r.sum.conversations() == 0 && r.page != nil:
		return failed("%s left out: none is left, and %s was not written", plural(r.sum.leftOut, "conversation"), s.html)
	case r.sum.leftOut > 0:
		return failed("%s left out: the total is of the others", plural(r.sum.leftOut, "conversation"))
	case r.sum.conversations() == 0 && len(s.only) > 0:
		return badInput("no conversation has an ID that --only asks for (%q): see the IDs in the table without --only", s.only)
	case r.sum.findings > 0:
		return findings(r.sum.findings)
	}
	return nil
}

// read yields the conversations that are asked for, of one input after the other.
func (r *replaying) read(ctx context.Context) func(yield func(item) bool) {
	return func(yield func(item) bool) {
		n := 0
		for _, in := range r.inputs {
			more := in.each(ctx, r.stdin, func(it item) bool {
				if it.err == nil && !r.plan.settings.selected(it.conversation.ID) {
					r.progress.add(it.bytes)
					return true
				}
				if it.err == nil && r.store != nil {
					it = r.stored(ctx, it)
				}
				if !yield(it) {
					return false
				}
				if it.err == nil {
					n++
				}
				return n != r.plan.settings.limit || n == 0
			})
			if !more {
				return
			}
		}
	}
}

// stored makes sure that a conversation can be kept.
func (r *replaying) stored(ctx context.Context, it item) item {
	if it.err = r.store.open(ctx); it.err != nil {
		it.fatal = true
		return it
	}
	it.err = r.store.check(ctx, it.conversation)
	return it
}

// play is the work of a worker.
func (r *replaying) play(ctx context.Context, c *conversation.Conversation) ([]*replay.Report, error) {
	var policies []replay.Policy
	for _, p := range r.plan.policies {
		if r.store != nil {
			p.Service = r.store.sessions()
		}
		policies = append(policies, p.Policy)
	}
	reports, err := r.compare(ctx, c, policies, r.plan.options(r.progress.messages))
	if err == nil {
		return reports, nil
	}
	if r.store != nil { // half a session would only be in the way of the next run
		if left := r.store.remove(context.WithoutCancel(ctx), c); left != nil {
			err = fmt.Errorf("%w; what was stored of it could not be removed: %w", err, left)
		}
	}
	return nil, failed("%w", &conversation.Error{File: c.File, Line: c.Line, Conversation: c.ID, Message: -1, Problem: "cannot be played: " + err.Error()})
}

// done reports one conversation, in the order of the input.
func (r *replaying) done(t task, o outcome) error {
	if o.err != nil {
		if t.fatal || !r.plan.settings.keepGoing {
			return notPlayed(o.err)
		}
		r.sum.leftOut++
		return r.progress.beside(func() error { return r.report.leftOut(o.err) })
	}
	r.sum.add(r.plan, o.reports)
	if r.page != nil {
		r.page.add(o.reports)
	}
	r.progress.played(t.bytes)
	return r.progress.beside(func() error { return r.report.played(o.reports) })
}

// notPlayed is the error of a run that ends at a conversation that could not be read or played.
func notPlayed(err error) error {
	code := exitUsage
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
	}
	var broken *conversation.Error
	if errors.As(err, &broken) {
		err = fmt.Errorf("%w (--keep-going leaves it out and goes on)", err)
	}
	return &exitError{code, err}
}
