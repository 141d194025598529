package auditcmd

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/files"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// resultCommand lists tool results, or writes one of them. Like export, it checks its flags before it
// opens the file.
func (a *command) resultCommand() *cobra.Command {
	w := resultWriter{}
	var patterns, presets []string
	cmd := newCommand("result FILE.db [SESSION] [REF]", "Show a whole tool result, or list all of them", func(cmd *cobra.Command, args []string) (err error) {
		if w.redactor, err = redact.New(patterns, presets); err != nil {
			return exit.Usage("--redact: %w", err)
		}
		if w.file.Name != "" {
			if err := w.file.CheckApart(args[0]); err != nil {
				return err
			}
		}
		return a.open(cmd, args, func(ctx context.Context, f *audit.File, out *output) error {
			s, ref, err := a.findResult(ctx, f, args)
			if err != nil {
				return err
			}
			if ref == "" {
				if w.file.Name != "" || w.redactor != nil {
					return exit.Usage("-o, --redact and --redact-preset need a REF: list the results with 'longsession audit result FILE SESSION'")
				}
				return listResults(ctx, f, s, out)
			}
			r, err := f.Result(ctx, s, ref)
			var unknown *audit.ErrNoResult
			if errors.As(err, &unknown) {
				return exit.Usage("%w%s: list its results with 'longsession audit result FILE SESSION'", err, suggest.DidYouMean(ref, unknown.Refs, ""))
			}
			if err != nil {
				return err
			}
			if w.file.Name != "" && w.redactor == nil {
				terminal.Complain(cmd.ErrOrStderr(), "warning: nothing is redacted: the file contains the whole result, private or not; see --redact and --redact-preset")
			}
			return w.write(r, out)
		})
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 3:
			return exit.Usage("%d arguments: give a FILE, and at most one SESSION and one REF (quote names with spaces)", len(args))
		case len(args) == 3 && !refBegins.MatchString(args[2]):
			return exit.Usage("REF is %q: it is a ref_id, such as r-3f9a0c11d2e47b58, or its beginning", args[2])
		}
		return checkArgs(cmd, args[:min(len(args), 2)])
	}
	cmd.ValidArgsFunction = a.completeResult
	w.file.Flag = "-o"
	setting.Add(cmd,
		setting.Setting{Name: "output", Short: "o", Value: setting.Output(&w.file.Name, "txt", "json"), Help: "write to this file instead of standard output (-)"},
		setting.Setting{Name: "redact", Value: setting.Texts(&patterns, func(string) error { return nil }), Help: "redact all matches of this Go regular expression (may be repeated)"},
		setting.Setting{Name: "redact-preset", Value: setting.Choices(&presets, redact.Presets...), Help: "redact well-known forms of private data"})
	return cmd
}

// refBegins matches a reference or the beginning of one.
var refBegins = regexp.MustCompile(`^(?i:r-[0-9a-f]{0,16})$`)

// findResult returns the session and the reference that the arguments name. A single argument after
// the file is a reference if it looks like one, unless a session has that name.
func (a *command) findResult(ctx context.Context, f *audit.File, args []string) (s *audit.Session, ref string, err error) {
	name := sessionArg(args)
	switch {
	case len(args) == 3:
		ref = args[2]
	case refBegins.MatchString(name):
		all, err := f.Sessions(ctx, a.narrow)
		if err != nil {
			return nil, "", err
		}
		if !slices.ContainsFunc(all, func(s *audit.Session) bool { return s.ID == name }) {
			name, ref = "", name
		}
	}
	s, err = f.Find(ctx, name, a.narrow)
	return s, ref, err
}

// listResults writes a line for each result of a session.
func listResults(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
	all, unreadable, err := f.Results(ctx, s)
	if err != nil {
		return err
	}
	if len(all) == 0 && out.json == nil {
		out.printf("no tool results\n")
	}
	if err := writeAll(out, all, func(r *audit.Result) { out.printf("%s\n", resultLine(r)) }); err != nil {
		return err
	}
	if unreadable > 0 {
		return exit.Failed("%s cannot be read: see 'longsession audit verify'", terminal.Plural(unreadable, "event"))
	}
	return nil
}

// resultLine is the line of a result in a list, such as
//
//	r-3f9a0c11d2e47b58  #14  read_file  23,456 bytes
func resultLine(r *audit.Result) string {
	event := "in no event"
	if r.Seq > 0 {
		event = fmt.Sprintf("#%d", r.Seq)
	}
	return fmt.Sprintf("%s  %s  %s  %s", terminal.Printable(r.Ref), event, terminal.Printable(r.Tool), terminal.Plural(r.Bytes, "byte"))
}

// resultWriter writes one result.
type resultWriter struct {
	file     files.Output
	redactor *redact.Redactor
}

// write writes a result: to a file or a pipe as it is, to a terminal without the characters that it
// would obey, and with --json in an object.
func (w resultWriter) write(r *audit.Result, out *output) (err error) {
	if w.redactor != nil {
		if r, err = r.Redacted(w.redactor); errors.Is(err, audit.ErrRedact) {
			return exit.Usage("--redact: %w", err)
		} else if err != nil {
			return err
		}
	}
	switch {
	case w.file.Name != "":
		return w.writeFile(r, out)
	case out.json == nil && out.screen.Columns == 0:
		out.done = func() string { return "the result was not written to its end" }
		_, err = io.Copy(out.to, r.Content())
		return err
	}
	content, err := io.ReadAll(r.Content())
	if err != nil {
		return err
	}
	if out.json == nil {
		out.indented(string(content), "")
		return nil
	}
	line := struct {
		*audit.Result
		Content *string `json:"content,omitempty"`
		Base64  string  `json:"base64,omitempty"`
	}{Result: r}
	if text := string(content); utf8.ValidString(text) {
		line.Content = &text
	} else {
		line.Base64 = base64.StdEncoding.EncodeToString(content)
	}
	return out.line(line)
}

// writeFile writes a result to a file, as a whole or not at all.
func (w resultWriter) writeFile(r *audit.Result, out *output) error {
	out.done = func() string { return w.file.Name + " was not written" }
	if err := w.file.Check(); err != nil {
		return err
	}
	if err := w.file.Replace(func(to io.Writer) error {
		_, err := io.Copy(to, r.Content())
		return err
	}); err != nil {
		return err
	}
	if out.json != nil {
		return out.line(struct {
			File string `json:"file"`
			*audit.Result
		}{w.file.Name, r})
	}
	out.printf("%s written to %s\n", terminal.Plural(r.Bytes, "byte"), terminal.Printable(w.file.Name))
	return nil
}

// completeResult completes FILE and SESSION as every command does, and REF from the session.
func (a *command) completeResult(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 || len(args) > 2 {
		return a.completeArgs(c, args, typed)
	}
	var offered []string
	if len(args) == 1 {
		offered = a.sessionNames(c.Context(), args[0], typed)
	}
	results := reading(args, func(f *audit.File) ([]*audit.Result, error) {
		s, err := f.Find(c.Context(), sessionArg(args), a.narrow)
		if err != nil {
			return nil, err
		}
		all, _, err := f.Results(c.Context(), s)
		return all, err
	})
	for _, r := range results {
		if suggest.Fits(r.Ref, typed) {
			offered = append(offered, cobra.CompletionWithDesc(r.Ref, terminal.Printable(r.Tool)+", "+terminal.Plural(r.Bytes, "byte")))
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}
