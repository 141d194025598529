package transfercmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/cmd/longsession/transfer"
)

// output writes results, for people or as JSON Lines.
type output struct {
	to     *bufio.Writer
	screen terminal.Screen
	json   *json.Encoder // nil for people
	dry    bool
	where  string

	sessions, events, copied, findings int
	passed                             int // events, of the session that is being copied too
	losses                             transfer.Losses
}

func newOutput(w io.Writer, asJSON, dry bool, where string) *output {
	o := &output{to: bufio.NewWriter(w), screen: terminal.Of(w), dry: dry, where: where, losses: transfer.Losses{}}
	if asJSON {
		o.json = json.NewEncoder(terminal.Harmless(o.to))
		o.json.SetEscapeHTML(false)
	}
	return o
}

// result writes what was done with a session, at once: a copy may be long.
func (o *output) result(r *transfer.Result) error {
	o.sessions, o.events, o.copied, o.findings = o.sessions+1, o.events+r.Events, o.copied+r.Copied, o.findings+len(r.Findings)
	o.losses.Add(r.Losses)
	if o.json != nil {
		if err := o.json.Encode(r); err != nil {
			return err
		}
		return o.flush()
	}
	if len(r.Findings) == 0 {
		copied := "copied"
		if o.dry {
			copied = "to copy"
		}
		o.line(fmt.Sprintf("%s: %s, %s %s", terminal.Printable(r.Name.String()), terminal.Plural(r.Events, "event"), terminal.Commas(r.Copied), copied))
	}
	for _, finding := range r.Findings {
		o.line(o.screen.Bad(terminal.Printable(r.Name.String() + ": " + finding)))
	}
	return o.flush()
}

func (o *output) line(text string) { fmt.Fprintln(o.to, o.screen.Hang(text)) }

// sum writes the end for people.
func (o *output) sum() error {
	if o.json != nil {
		return o.flush()
	}
	text := fmt.Sprintf("%s, %s: %s copied, %s were there", terminal.Plural(o.sessions, "session"), terminal.Plural(o.events, "event"), terminal.Commas(o.copied), terminal.Commas(o.events-o.copied))
	switch {
	case o.dry:
		text = fmt.Sprintf("%s, %s: %s to copy, %s are there; nothing was written", terminal.Plural(o.sessions, "session"), terminal.Plural(o.events, "event"), terminal.Commas(o.copied), terminal.Commas(o.events-o.copied))
	case o.findings == 0:
		text += "; events, state and views are the same"
	}
	o.line(text)
	for _, what := range slices.Sorted(maps.Keys(o.losses)) {
		o.line("not kept: " + terminal.Commas(o.losses[what]) + " " + what)
	}
	return o.flush()
}

func (o *output) flush() error { return o.to.Flush() }

// done says how far the command came, and how to go on.
func (o *output) done(of int) string {
	return fmt.Sprintf("%s of %s copied, and part of the next one if it is long; the same command goes on there", terminal.Commas(o.sessions), terminal.Plural(of, "session"))
}
