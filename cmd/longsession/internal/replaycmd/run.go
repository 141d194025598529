package replaycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
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
	compare  Compare
}

// Compare is the type of [replay.Compare].
type Compare func(context.Context, *conversation.Conversation, []replay.Policy, replay.Options) ([]*replay.Report, error)

// run checks all flags and files before it plays the first conversation. It creates the temporary
// file of --html early too: a folder that is not writable shows at once and not after the replay.
func run(cmd *cobra.Command, f *flags, args []string, version string, compare Compare) (err error) {
	ctx := cmd.Context()
	p, err := newPlan(ctx, f, version, cmd.Flags().Changed)
	if err != nil {
		return err
	}
	r := &replaying{plan: p, stdin: cmd.InOrStdin(), sum: newSummary(p), compare: compare}
	if r.inputs, err = checkInputs(args); err != nil {
		return err
	}
	if err := checkOutputs(f, r.inputs); err != nil {
		return err
	}
	if f.html != "" {
		if r.page, err = newPage(f.html, r.inputs); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.page.Cleanup()) }()
	}
	if f.db != "" {
		if r.store, err = openStore(ctx, f.db, f.force); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.store.close()) }()
	}
	out := &output{to: cmd.OutOrStdout()}
	r.report = newTextReport(p, terminal.Of(cmd.OutOrStdout()), out)
	if f.json {
		r.report = newJSONReport(p, out)
	}
	r.progress = newProgress(cmd.ErrOrStderr(), r.inputs, f.quiet)
	defer r.progress.Finish()
	return r.run(ctx)
}

// run plays all conversations and reports them. If it ends early, it reports what was done.
func (r *replaying) run(ctx context.Context) error {
	if err := r.report.begin(); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.plan.spending.stop = stop
	w := workers{play: r.play, jobs: r.plan.jobs}
	err := w.run(ctx, r.read(ctx), r.done)
	r.sum.complete = err == nil
	r.progress.Finish()
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

// endedEarly turns the end of ctx into an error that counts the conversations played by then.
func (r *replaying) endedEarly(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	done := terminal.Plural(r.sum.conversations(), "conversation") + " done"
	if r.page != nil {
		done += fmt.Sprintf("; %s was not written", r.plan.html)
	}
	if spent := (*overspent)(nil); errors.As(context.Cause(ctx), &spent) {
		return exit.Failed("%w; %s", spent, done)
	}
	return exit.Interrupted(done)
}

// verdict is the result of a run that played all its input. The first that applies decides the exit
// code: conversations left out (3), none selected (2), a model that writes nothing (3), findings (1).
func (r *replaying) verdict() error {
	leftOut := terminal.Plural(r.sum.leftOut, "conversation") + " left out"
	switch {
	case r.sum.leftOut > 0 && r.sum.conversations() == 0 && r.page != nil:
		return exit.Failed("%s: none remains, and %s was not written", leftOut, r.plan.html)
	case r.sum.leftOut > 0:
		return exit.Failed("%s: the total covers the others", leftOut)
	case r.sum.conversations() == 0 && len(r.plan.only) > 0:
		return exit.Usage("no conversation has an ID that --only asks for (%q): see the IDs in the table without --only", r.plan.only)
	case r.sum.silent(r.plan) != "":
		return exit.Failed("the model has written no summary (%s): the notes of the report say why", r.sum.silent(r.plan))
	case r.sum.findings > 0:
		return exit.Findings(r.sum.findings)
	}
	return nil
}

// read yields the selected conversations of one input after the other, and ends after --limit of
// them. A conversation that cannot be read has no ID that --only could select, so it is always yielded.
// It does not count against the limit.
func (r *replaying) read(ctx context.Context) func(yield func(item) bool) {
	return func(yield func(item) bool) {
		n := 0
		for _, in := range r.inputs {
			more := in.each(ctx, r.stdin, func(it item) bool {
				if it.err == nil && !r.plan.selected(it.conversation.ID) {
					r.progress.skipped(it.bytes)
					return true
				}
				if it.err == nil && r.store != nil {
					it = r.storable(ctx, it)
				}
				if !yield(it) {
					return false
				}
				if it.err == nil {
					n++
				}
				return n != r.plan.limit || n == 0
			})
			if !more {
				return
			}
		}
	}
}

// storable checks that --db can hold a conversation. A file that cannot be opened ends the run, also
// with --keep-going: no other conversation could be stored either.
func (r *replaying) storable(ctx context.Context, it item) item {
	if it.err = r.store.open(ctx); it.err != nil {
		it.fatal = true
		return it
	}
	it.err = r.store.check(ctx, it.conversation)
	return it
}

// play is the work of a worker: it plays one conversation under all policies. It is called
// concurrently. With --db, a conversation that fails leaves nothing in the file.
func (r *replaying) play(ctx context.Context, c *conversation.Conversation) ([]*replay.Report, error) {
	var policies []replay.Policy
	for _, p := range r.plan.policies {
		if r.store != nil {
			p.Service = r.store.sessions()
		}
		policies = append(policies, p.Policy)
	}
	for _, t := range r.plan.tried {
		policies = append(policies, t.Policy)
	}
	reports, err := r.compare(ctx, c, append(policies, r.earlyWays(c)...), r.plan.options(r.progress.played))
	if err == nil {
		var ways []*replay.Report
		if ways, err = r.playWays(ctx, c, reports, reports[len(policies):]); err == nil {
			return slices.Concat(reports[:len(policies)], ways), nil
		}
	}
	if r.store != nil { // a partial session would get in the way of the next run
		if left := r.store.remove(context.WithoutCancel(ctx), c); left != nil {
			err = fmt.Errorf("%w; its partial session could not be removed: %w", err, left)
		}
	}
	return nil, exit.Failed("%w", &conversation.Error{File: c.File, Line: c.Line, Conversation: c.ID, Message: -1, Problem: "cannot be played: " + err.Error()})
}

// done reports one conversation, in the order of the input. Its error ends the run. The progress bar
// makes way while a report is written, since both may go to the same terminal.
func (r *replaying) done(t task, o outcome) error {
	if o.err != nil {
		if t.fatal || !r.plan.keepGoing {
			return notPlayed(o.err)
		}
		r.sum.leftOut++
		return r.progress.Aside(func() error { return r.report.leftOut(o.err) })
	}
	own := o.reports[:len(r.plan.policies)]
	r.sum.add(r.plan, own)
	rest := o.reports[len(own):]
	r.sum.addTried(rest[:len(r.plan.tried)])
	r.sum.addWays(r.plan, t.conversation, rest[len(r.plan.tried):])
	if r.page != nil {
		r.page.add(own)
	}
	r.progress.reported(t.bytes)
	return r.progress.Aside(func() error { return r.report.played(own) })
}

// notPlayed is the error of a run that ends at a conversation that could not be read or played. Bad
// input is an error of usage, unless the error already has an exit code. If the conversation is at
// fault, and not the whole file, --keep-going is a remedy.
func notPlayed(err error) error {
	code := exit.CodeUsage
	var e *exit.Error
	if errors.As(err, &e) {
		code = e.Code
	}
	var broken *conversation.Error
	if errors.As(err, &broken) {
		err = fmt.Errorf("%w (to leave it out and go on, use --keep-going)", err)
	}
	return &exit.Error{Code: code, Err: err}
}
