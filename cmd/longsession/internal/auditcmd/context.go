package auditcmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// contextCommand shows the view, now or as it was. Its first and last lines are for people only: in JSON every event has
// its own tokens.
func (a *command) contextCommand() *cobra.Command {
	var at place
	cmd := newCommand("context FILE.db [SESSION]", "Show what the model sees, now or as it was in any call", atPlaces(a, func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
		if at.text == "" {
			seen, err := f.View(ctx, s, 0, -1)
			if err != nil {
				return err
			}
			return showContext(ctx, f, s, seen.Entries, out, sizeText(seen.Events, seen.Tokens))
		}
		p, entries, err := audit.ReadPrompt(ctx, f, s, at.At, 0, -1)
		if err != nil {
			return err
		}
		if !a.json {
			out.promptTitle(p)
		}
		return showContext(ctx, f, s, entries, out, promptSize(p))
	}, &at))
	setting.Add(cmd, at.setting("at", "what the model saw in the call that answered with this event, or in the last call of a turn: 47, or turn12"))
	return cmd
}

// place is a flag that names an event or a turn.
type place struct {
	audit.At
	name, text string
}

func (p *place) setting(name, help string) setting.Setting {
	p.name = name
	return setting.Setting{Name: name, Value: setting.Text(&p.text), Help: help}
}

// atPlaces is onSession for a command whose flags name places. A place that is none is refused before the file is opened.
func atPlaces(a *command, do func(context.Context, *audit.File, *audit.Session, *output) error, places ...*place) func(*cobra.Command, []string) error {
	run := a.onSession(do)
	return func(cmd *cobra.Command, args []string) error {
		for _, p := range places {
			var err error
			if p.At, err = audit.ParseAt(p.text); err != nil {
				return exit.Usage("--%s: %w", p.name, err)
			}
		}
		return run(cmd, args)
	}
}

// showContext writes the events of a view and, for people, its size and what a prompt has besides.
func showContext(ctx context.Context, f *audit.File, s *audit.Session, entries []audit.Entry, out *output, size string) error {
	named, err := names(ctx, f, s, out)
	if err != nil {
		return err
	}
	err = writeAll(out, entries, func(e audit.Entry) { out.seen(named, &e) })
	if err == nil && out.json == nil {
		out.printf("%s\n%s\n", size, audit.NotStored)
	}
	return err
}

// seen writes an event of a view. Of a record the model sees the framed text only.
func (o *output) seen(named *audit.Names, e *audit.Entry) {
	named.Entry(e)
	o.title(entryTitle(e))
	if e.Record != nil {
		o.asked(e.Record)
	}
	e.Record = nil
	o.blocks(e)
}

func sizeText(events, tokens int) string {
	return terminal.Plural(events, "event") + ", " + terminal.Commas(tokens) + " tokens"
}

// promptSize is the size of a prompt, such as
//
//	11 events, 1,496 tokens; the provider counted 1,940 with instructions and tools
func promptSize(p *audit.Prompt) string {
	text := sizeText(p.Events, p.Tokens)
	if p.Counted > 0 {
		text += fmt.Sprintf("; the provider counted %s with instructions and tools", terminal.Commas(p.Counted))
	}
	return text
}

// promptTitle says which prompt it is.
func (o *output) promptTitle(p *audit.Prompt) {
	o.title(promptName(p))
	if p.Late > 0 {
		o.printf("Record #%d was stored right before the answer. If it was written in the background, the model had not seen it yet.\n", p.Late)
	}
	if i := slices.Index(p.Calls, p.Answer); len(p.Calls) > 1 && i >= 0 {
		o.printf("It is call %d of %d in this turn, which were answered with %s.\n", i+1, len(p.Calls), eventNumbers(p.Calls))
	}
}

// promptName names a prompt, such as "The prompt that event 47 answered, in turn 12".
func promptName(p *audit.Prompt) string {
	if p.Answer == 0 {
		return "The next prompt"
	}
	name := fmt.Sprintf("The prompt that event %d answered", p.Answer)
	if p.Turn > 0 {
		name += fmt.Sprintf(", in turn %d", p.Turn)
	}
	return name
}

// eventNumbers lists numbers of events, the first ones if there are many.
func eventNumbers(seqs []int64) string {
	const most = 20
	text := ""
	for i, seq := range seqs[:min(most, len(seqs))] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("#%d", seq)
	}
	if len(seqs) > most {
		text += fmt.Sprintf(" and %d more", len(seqs)-most)
	}
	return text
}
