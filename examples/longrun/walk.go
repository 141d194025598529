package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// fewest is the smallest number of calls in which all that the walk shows happens.
const fewest = 120

// perCall is about what a call costs on average, for a ceiling that is reached after two thirds of them.
const perCall = 7 * tokens.Cent / 10

// walk is one run of the command.
type walk struct {
	folder, file string
	wanted       int
	out          io.Writer

	provider provider
	walker   walker

	task, right   int // tasks begun, and answered right
	unfinished    int // turns that have ended without an answer
	loops, failed int // turns that the watchdog has ended, and tool results that are errors
	refused       bool

	mu    sync.Mutex
	seen  map[guard.ObservationKind]int
	spent tokens.Nano // as the guard has reported it, call by call
}

func (w *walk) ceiling() tokens.Nano { return tokens.Nano(w.wanted*2/3) * perCall }

// note counts what the guard reports.
func (w *walk) note(_ context.Context, o guard.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[guard.ObservationKind]int{}
	}
	w.seen[o.Kind] += 1 + o.Missed
	w.spent += o.USD
}

// say prints a line with the number of model calls so far.
func (w *walk) say(format string, args ...any) {
	calls, _, _ := w.provider.snapshot()
	fmt.Fprintf(w.out, "%4d  %s\n", calls, fmt.Sprintf(format, args...))
}

// run walks until the ceiling, starts again, resets it, walks on, and reports.
func (w *walk) run(ctx context.Context) error {
	var err error
	if w.provider.registry, err = prices(); err != nil {
		return err
	}
	fmt.Fprintf(w.out, "%d files in %d packages, %d model calls, ceiling %s.\n\ncalls\n", 4*packages, packages, w.wanted, w.ceiling())
	if err := w.session(ctx, w.untilTheCeiling); err != nil {
		return err
	}
	if err := w.session(ctx, w.untilTheEnd); err != nil {
		return err
	}
	return w.finish(ctx)
}

// session starts the app and stops it again.
func (w *walk) session(ctx context.Context, do func(context.Context, *process) error) error {
	p, err := w.open()
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, p), p.close(ctx))
}

// untilTheCeiling does tasks until the guard refuses to go on.
func (w *walk) untilTheCeiling(ctx context.Context, p *process) error {
	var stop *guard.StopError
	for calls := 0; calls < w.wanted; calls, _, _ = w.provider.snapshot() {
		err := w.do(ctx, p)
		if errors.As(err, &stop) && stop.Kind == guard.CostCeiling && stop.Scope == guard.ScopeSession {
			_, bill, last := w.provider.snapshot()
			w.say("ceiling reached: %s of %s spent", stop.Spent, stop.Bound)
			// A call that lands is the last one under the ceiling, so it may stay below.
			if over := bill - w.ceiling(); over < 0 && !stop.Landed || over >= last {
				return fmt.Errorf("the agent was stopped at %s, and the call that reaches the ceiling is another one", bill)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("the ceiling of %s is not reached in %d calls", w.ceiling(), w.wanted)
}

// untilTheEnd finds the session stopped, resets it, and does tasks until the calls are used up.
func (w *walk) untilTheEnd(ctx context.Context, p *process) error {
	before, _, _ := w.provider.snapshot()
	_, _, err := p.turn(ctx, question(w.task))
	after, _, _ := w.provider.snapshot()
	if !errors.Is(err, guard.ErrStopped) || before != after {
		return fmt.Errorf("a new process made %d calls above the ceiling, and ended with %v", after-before, err)
	}
	w.refused = true
	w.say("started again: refused, no model call")
	more := guard.ResetOptions{AddUSD: w.ceiling()}
	if err := p.stack.Guard.Reset(ctx, p.stack.Sessions, ref, more); err != nil {
		return err
	}
	w.say("reset: %s more", more.AddUSD)
	for calls := after; calls < w.wanted; calls, _, _ = w.provider.snapshot() {
		if err := w.do(ctx, p); err != nil {
			return err
		}
	}
	w.say("done: %d tasks, %d answered right", w.task, w.right)
	return w.report(ctx, p)
}

// do has the agent work on the next task. A loop costs a turn, and the task is begun again.
func (w *walk) do(ctx context.Context, p *process) error {
	w.walker.begin(w.task, w.task == loopTask && w.loops == 0)
	answer, failed, err := p.turn(ctx, question(w.task))
	w.failed += failed
	var stop *guard.StopError
	if errors.As(err, &stop) && stop.Kind == guard.Watchdog {
		w.loops++
		w.say("watchdog: stopped task %d, a loop", w.task+1)
		return nil
	}
	if err != nil {
		return err
	}
	if !strings.Contains(answer, "per minute") { // the last answer before a ceiling
		w.unfinished++
		w.say("landed: task %d ends without tools", w.task+1)
		if w.unfinished > 3 {
			return fmt.Errorf("%d turns have ended without an answer", w.unfinished)
		}
		return nil
	}
	if strings.Contains(answer, fmt.Sprintf("is %d per minute", retryBudget(w.task%packages))) {
		w.right++
	}
	w.task++
	return nil
}
