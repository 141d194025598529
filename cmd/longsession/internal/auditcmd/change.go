package auditcmd

import (
	"context"
	"fmt"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// change writes how the view differs between two prompts.
func change(ctx context.Context, f *audit.File, s *audit.Session, from, to audit.At, out *output) error {
	c, err := audit.ReadChange(ctx, f, s, from, to)
	if err != nil {
		return err
	}
	named, err := names(ctx, f, s, out)
	if err != nil {
		return err
	}
	return writeAll(out, []*audit.Change{c}, func(c *audit.Change) {
		for _, of := range []struct {
			label string
			p     *audit.Prompt
		}{{"from: ", c.From}, {"to:   ", c.To}} {
			o, p := out, of.p
			o.title(of.label + promptName(p) + ": " + promptSize(p))
		}
		for _, part := range []struct {
			entries []audit.Entry
			label   string
		}{
			{c.Gone, "no longer in the prompt"}, {c.Come, "new in the prompt"}, {c.Other, "in both prompts, with another text now"},
		} {
			if len(part.entries) == 0 {
				continue
			}
			out.printf("\n")
			out.title(fmt.Sprintf("%s: %s", part.label, terminal.Plural(len(part.entries), "event")))
			for i := range part.entries {
				out.seen(named, &part.entries[i])
			}
		}
		out.printf("\n%s in both as before\n%s\n", terminal.Plural(c.Kept, "event"), audit.NotStored)
	})
}
