package subtask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
)

// ErrDepth is the error of a subtask that asks for a subtask, beyond [Config].Depth.
var ErrDepth = errors.New("a subtask must not start another one: do the work with the tools that are here")

// errWall is the cause with which the context of a subtask ends after [Spec].Wall.
var errWall = errors.New("the subtask has used its time")

// levelKey is the key of the number of subtasks that a context is inside of.
type levelKey struct{}

func levelOf(ctx context.Context) int {
	level, _ := ctx.Value(levelKey{}).(int)
	return level
}

// task is one run of a subtask.
type task struct {
	r      *Runner
	ctx    agent.ToolContext
	spec   Spec
	parent compaction.SessionRef
	link   Link
	child  compaction.SessionRef

	own     bool     // the model is the subtask's, not the parent's
	resumed bool     // a person has decided
	pending []string // the questions that the decision answers
	before  used     // by the run that asked
	reply   reply
	landing landing
}

// RunSubtask runs a subtask for the tool whose context is given, and waits until it has ended. It may wait for
// other subtasks first, see [Config].Parallel.
//
// Whatever happens to a subtask that has started is a [Result], with what was found so far: limits, failures
// of the model, panics. The error is set if the subtask was not started (a refused [Spec], [ErrDepth], a
// session that cannot be created), if ctx ended, and if a tool needs a confirmation. In the last case the
// error wraps tool.ErrConfirmationRequired, and ctx has asked for it: the caller returns the error. When the
// person has decided, ADK calls the tool again, and RunSubtask with the same [Spec].Name goes on from where
// the subtask was. A tool made with functiontool.New is called again only if the person has approved.
func (r *Runner) RunSubtask(ctx agent.ToolContext, spec Spec) (Result, error) {
	if ctx == nil {
		return Result{}, errors.New("subtask: the context is nil: pass on the one that ADK gives to the tool")
	}
	if d, ok := ctx.(*decided); ok {
		ctx = d.ToolContext
	}
	t := &task{r: r, ctx: ctx, parent: compaction.SessionRef{AppName: ctx.AppName(), UserID: ctx.UserID(), SessionID: ctx.SessionID()}}
	result, err := t.perform(spec)
	kind := Ended
	switch {
	case errors.Is(err, tool.ErrConfirmationRequired):
		return result, err
	case t.child.SessionID == "":
		kind = Refused
	}
	r.observe(ctx, t.observation(Observation{Kind: kind, Result: result, Err: err}))
	return result, err
}

func (t *task) observation(o Observation) Observation {
	o.Name, o.Parent, o.Child, o.CallID, o.Resumed = t.spec.Name, t.parent, t.child, t.link.Call, t.resumed
	return o
}

func (t *task) perform(spec Spec) (Result, error) {
	level := levelOf(t.ctx)
	if level >= t.r.cfg.Depth {
		t.spec.Name = spec.Name
		return Result{}, fmt.Errorf("subtask: %w", ErrDepth)
	}
	t.own = spec.Model != nil || t.r.cfg.Model != nil
	spec, err := t.r.complete(spec, t.r.cfg.Depth-level)
	t.spec = spec
	if err != nil {
		return Result{}, err
	}
	t.link = Link{Parent: t.parent.SessionID, Call: t.ctx.FunctionCallID(), Name: spec.Name}
	leave, err := t.r.enter(t.ctx, level)
	if err != nil {
		return Result{}, fmt.Errorf("subtask %s: waiting for other subtasks: %w", spec.Name, err)
	}
	defer leave()
	if err := t.open(); err != nil {
		return Result{}, fmt.Errorf("subtask %s: its session: %w", spec.Name, err)
	}
	return t.charged(level)
}

// enter waits for a free slot. Only the outermost subtasks take one: those inside of them would otherwise wait
// for the slots of their callers.
func (r *Runner) enter(ctx context.Context, level int) (leave func(), err error) {
	if level > 0 {
		return func() {}, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case r.slots <- struct{}{}:
		return func() { <-r.slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// open finds the session of a subtask that waits for a decision, or creates one.
func (t *task) open() error {
	if t.ctx.ToolConfirmation() != nil {
		s, pending, err := t.r.waiting(t.ctx, t.parent, t.link)
		if err != nil {
			return err
		}
		if len(pending) > 0 {
			t.child, t.pending, t.resumed = refOf(s), pending, true
			t.before = t.r.usedIn(s, t.spec.Model.Name())
			return nil
		}
	}
	child, err := t.r.create(t.ctx, t.parent, t.link)
	t.child = child
	return err
}

// charged runs the subtask on an account of its own.
func (t *task) charged(level int) (Result, error) {
	ctx, account, err := t.r.cfg.Guard.Child(t.ctx, t.child, t.spec.Name, t.rest())
	var stop *guard.StopError
	if err == nil {
		defer account.Close()
		stop = t.r.tooLittle(&t.spec, account.Left())
	} else if !errors.As(err, &stop) {
		return t.refuse(), fmt.Errorf("subtask %s: its account: %w", t.spec.Name, err)
	}
	if stop != nil {
		result := t.refuse()
		result.Truncated, result.Stopped = true, stop
		result.Text, result.Reason = bounded("", "not run: "+explain(stop), "", t.spec.MaxReplyTokens)
		return result, nil
	}
	ctx, cancel := context.WithTimeoutCause(context.WithValue(ctx, levelKey{}, level+1), t.spec.Wall, errWall)
	defer cancel()
	run, err := t.runner()
	if err != nil {
		return t.refuse(), fmt.Errorf("subtask %s: %w", t.spec.Name, err)
	}
	t.r.observe(t.ctx, t.observation(Observation{Kind: Started}))
	asked, err := t.turns(ctx, run)
	if asked {
		return t.result(account, nil, nil), err
	}
	return t.result(account, err, context.Cause(ctx)), t.canceled()
}

// refuse removes the session of a subtask that does not start. That of one that was resumed stays.
func (t *task) refuse() Result {
	if !t.resumed {
		_ = t.r.cfg.Service.Delete(context.WithoutCancel(t.ctx), &session.DeleteRequest{
			AppName: t.child.AppName, UserID: t.child.UserID, SessionID: t.child.SessionID,
		})
		t.child = compaction.SessionRef{}
	}
	return Result{Model: t.spec.Model.Name(), ParentModel: !t.own, SessionID: t.child.SessionID}
}

// rest is what the limits leave after the run that has asked for a confirmation.
func (t *task) rest() guard.Limits {
	l := t.spec.limits()
	l.ModelCalls = max(1, l.ModelCalls-t.before.calls)
	if l.USD > 0 {
		l.USD = max(1, l.USD-t.before.usd)
	}
	if l.Tokens > 0 {
		l.Tokens = max(1, l.Tokens-t.before.tokens.Total())
	}
	return l
}

// canceled is the error of a subtask whose parent was canceled.
func (t *task) canceled() error {
	if t.ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("subtask %s: %w", t.spec.Name, context.Cause(t.ctx))
}

// grace is how long a run may take to end after its context has.
const grace = 250 * time.Millisecond

// turns runs the subtask until it has answered, and answers its questions. Asked reports that the parent's
// tool has asked a person; then the error is the one to return to ADK.
func (t *task) turns(ctx context.Context, run running) (asked bool, err error) {
	message := genai.NewContentFromText(t.spec.Message, genai.RoleUser)
	if t.resumed {
		message = decision(t.pending, t.ctx.ToolConfirmation().Confirmed)
	}
	for {
		if err := t.play(ctx, run, message); err != nil {
			return false, err
		}
		questions := t.reply.asks()
		if len(questions) == 0 {
			return false, nil
		}
		// ADK passes on no question of a call that it resumes: it would wait forever.
		if t.r.cfg.Confirmations == ConfirmAsk && t.ctx.ToolConfirmation() == nil {
			hint, payload := ask(t.spec.Name, questions)
			if err := t.ctx.RequestConfirmation(hint, payload); err == nil {
				t.r.observe(t.ctx, t.observation(Observation{Kind: Asked}))
				return true, fmt.Errorf("subtask %s: a tool %w", t.spec.Name, tool.ErrConfirmationRequired)
			}
		}
		t.r.observe(t.ctx, t.observation(Observation{Kind: Declined}))
		ids := make([]string, len(questions))
		for i, q := range questions {
			ids[i] = q.id
		}
		message = decision(ids, false)
	}
}

// running is ADK's runner.
type running func(ctx context.Context, message *genai.Content) error

// play runs one turn of the subtask. It returns soon after the context has ended, also while a tool or a model
// hangs. These then end alone: without the context, no further call starts.
func (t *task) play(ctx context.Context, run running, message *genai.Content) error {
	ended := make(chan error, 1)
	go func() {
		err := errors.New("a callback ended the goroutine")
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v", cause)
			}
			ended <- err
		}()
		err = run(ctx, message)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return errNoEnd
	}
}
