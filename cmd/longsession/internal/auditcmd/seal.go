package auditcmd

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/files"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

func (a *command) sealCommand() *cobra.Command {
	s := &sealing{command: a}
	cmd := newCommand("seal FILE.db [SESSION]", "Write digests, to compare the file with later", s.run)
	setting.Add(cmd,
		setting.Setting{Name: "key", Value: setting.File(&s.key, "pem", "key"), Help: "sign with the ed25519 key in this file (PEM, PKCS #8)"},
		setting.Setting{Name: "output", Short: "o", Value: setting.Output(&s.file, "json", "seal"), Help: "write to this file instead of standard output (-)"},
		setting.Setting{Name: "force", Value: setting.Switch(&s.force), Help: "seal also events that no longer fit the chain"})
	return cmd
}

// sealing holds the flags of seal.
type sealing struct {
	*command
	key, file string
	force     bool
}

// run checks the key and the destination first, then seals all selected sessions in one snapshot. An
// event that does not fit its chain is a finding on stderr, because stdout may be the seal itself;
// after any finding nothing is written without --force. A seal of changed events would vouch for
// them.
func (s *sealing) run(cmd *cobra.Command, args []string) error {
	var key ed25519.PrivateKey
	if s.key != "" {
		var err error
		if key, err = readKey("--key", s.key, audit.ParsePrivateKey); err != nil {
			return err
		}
	}
	to := files.Output{Flag: "-o", Name: s.file}
	if err := s.checkOutput(to, args[0]); err != nil {
		return err
	}
	return s.open(cmd, args, func(ctx context.Context, f *audit.File, out *output) error {
		sessions, err := s.chosen(ctx, f, sessionArg(args))
		if err != nil {
			return err
		}
		p := newProgress(cmd.ErrOrStderr(), sessions)
		defer p.Finish()
		misfits, events := 0, int64(0)
		out.done = func() string { return p.share("read") + ", nothing was written" }
		seal, err := f.Seal(ctx, s.which(args), func(found audit.Finding) error {
			misfits++
			return p.Aside(func() error {
				_, err := fmt.Fprintln(cmd.ErrOrStderr(), terminal.Of(cmd.ErrOrStderr()).Hang(findingText(found)))
				return err
			})
		}, func(n int64) { events += n; p.add(n) })
		p.Finish()
		switch {
		case err != nil:
			return err
		case misfits > 0 && !s.force:
			return &exit.Error{Code: exit.CodeFindings, Err: fmt.Errorf("%s: nothing was sealed; see 'longsession audit verify', or use --force", terminal.Plural(misfits, "finding"))}
		case s.file == "":
			return audit.WriteSeal(out.to, seal, key)
		}
		if err := to.Replace(func(w io.Writer) error { return audit.WriteSeal(w, seal, key) }); err != nil {
			return err
		}
		if s.json {
			return out.line(struct {
				File     string `json:"file"`
				Sessions int    `json:"sessions"`
				Events   int64  `json:"events"`
				Signed   bool   `json:"signed"`
			}{s.file, p.done, events, key != nil})
		}
		signed := ""
		if key != nil {
			signed = ", signed"
		}
		out.printf("%s, %s sealed in %s%s\n", terminal.Plural(p.done, "session"), terminal.Plural(events, "event"), terminal.Printable(s.file), signed)
		return nil
	})
}

// checkOutput refuses a file that the seal must not replace.
func (s *sealing) checkOutput(to files.Output, db string) error {
	if s.file == "" {
		return nil
	}
	if err := to.CheckApart(db); err != nil {
		return err
	}
	if s.key != "" && files.Same(s.file, s.key) {
		return exit.Usage("-o %s is the key: name another one", s.file)
	}
	return to.Check()
}
