package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/adk-go-ext/longsession/layer/guard"
)

// report shows how the context was managed and what the walk has cost, and checks both.
func (w *walk) report(ctx context.Context, p *process) error {
	stats, err := p.stack.ContextStats(ctx, ref)
	if err != nil {
		return err
	}
	usage, err := p.stack.Guard.Usage(ctx, p.stack.Sessions, ref)
	if err != nil {
		return err
	}
	if err := p.stack.Guard.Flush(ctx); err != nil {
		return err
	}
	calls, bill, _ := w.provider.snapshot()
	fmt.Fprintf(w.out, "\n%s\n\n", strings.TrimSpace(stats.String()))
	for _, m := range usage.Models {
		fmt.Fprintf(w.out, "%-16s %4d calls %9s\n", m.Model, m.Calls, m.USD)
	}
	fmt.Fprintf(w.out, "%-16s %4d calls %9s\n", "all", usage.ModelCalls, usage.USD)
	fmt.Fprintf(w.out, "%-16s %4d calls %9s\n", "the bill", calls, bill)
	return w.check(usage)
}

// check is what must hold at the end.
func (w *walk) check(usage guard.Usage) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls, bill, _ := w.provider.snapshot()
	var problems []error
	must := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	must(usage.ModelCalls == calls, "the guard counts %d calls, and the provider got %d", usage.ModelCalls, calls)
	must(usage.USD == bill, "the guard counts %d nano-dollars, and the bill has %d", usage.USD, bill)
	must(w.spent == bill, "the charges that were reported add up to %d nano-dollars, and the bill to %d", w.spent, bill)
	must(len(usage.Unpriced) == 0, "models without a price: %v", usage.Unpriced)
	must(usage.Subtasks.Count >= w.task, "%d tasks, and %d subtasks", w.task, usage.Subtasks.Count)
	must(w.loops == 1, "%d turns were stopped by the watchdog, and one loop was planted", w.loops)
	must(w.refused, "the ceiling was never refused")
	must(w.right == w.task && w.task > loopTask, "%d of %d tasks have the right answer", w.right, w.task)
	must(w.failed >= w.task/3, "%d results are errors: what is outside of the root or not public was not refused", w.failed)
	must(w.provider.over == 0, "%d prompts do not fit into the window of %d tokens", w.provider.over, window)
	return errors.Join(problems...)
}

// finish has the command look at the file that the walk has left, and ends with one line.
func (w *walk) finish(ctx context.Context) error {
	var out bytes.Buffer
	verify := exec.CommandContext(ctx, "go", "run", "github.com/adk-go-ext/longsession/cmd/longsession", "audit", "verify", w.file)
	verify.Stdout, verify.Stderr = &out, &out
	err := verify.Run()
	fmt.Fprintf(w.out, "\naudit verify:\n%s\n", wrap(out.String()))
	if err != nil {
		return fmt.Errorf("audit verify %s: %w", w.file, err)
	}
	calls, bill, _ := w.provider.snapshot()
	fmt.Fprintf(w.out, "\nlongrun ok: %d calls, %s, %d tasks, 1 loop, 1 ceiling\n", calls, bill, w.task)
	return nil
}

// columns is how wide the output is, but for lines that are quoted as they are.
const columns = 60

// wrap breaks a text between words.
func wrap(text string) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(text) {
		switch {
		case width > 0 && width+1+len(word) > columns:
			b.WriteByte('\n')
			width = 0
		case width > 0:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}
