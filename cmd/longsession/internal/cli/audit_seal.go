package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

const auditSealHelp = `Seal writes what a file holds now as digests, to be kept where those who can write to the file cannot change
it: on another machine, in a repository, on paper. With --against, verify then says what was changed,
deleted, inserted or moved since. A seal has no content of any event, but the names of apps, users and
sessions, and 8 bytes for each event.

Events are chained by digests in the file itself (see docs/schema.md), so verify also finds changes without
a seal; not those by somebody who computed the digests anew. If events do not fit the chain any more, seal
says which, writes nothing and ends with exit code 1. With --force it seals them as they are. State is not
in the chain.

--key signs the seal with ed25519: a file in PEM, PKCS #8, not encrypted. To make one, and the public key:
  openssl genpkey -algorithm ed25519 -out key.pem
  openssl pkey -in key.pem -pubout -out public.pem

-o writes to a temporary file first: it is whole or as it was, and for its owner alone.

JSON: the seal itself is one object on one line:
  seal                  format, version, made (time in UTC), database (ID of the file) and sessions
  signature             algorithm, key (SHA-256 of the public key) and value; left out if it is not signed.
                        It is over the JSON of seal without white space
Each session has app, user, session, created, events, digest (hexadecimal) and rows (base64). With -o and
--json, one object about what was written: file, sessions, events, signed.`

func (a *auditing) sealCommand() *cobra.Command {
	s := &sealing{auditing: a}
	cmd := &cobra.Command{
		Use:   "seal FILE.db [SESSION]",
		Short: "Write digests to compare the file with later",
		Long:  auditSealHelp,
		Args:  auditArgs,
		RunE:  s.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&s.key, "key", "", "sign with the ed25519 key in this file (PEM, PKCS #8)")
	flags.StringVarP(&s.file, "output", "o", "", "write to this file instead of standard output")
	flags.BoolVar(&s.force, "force", false, "seal also what does not fit the chain any more")
	return cmd
}

// sealing are the flags of seal, as they were given.
type sealing struct {
	*auditing
	key, file string
	force     bool
}

func (s *sealing) run(cmd *cobra.Command, args []string) error {
	var key ed25519.PrivateKey
	if cmd.Flags().Changed("key") {
		var err error
		if key, err = readKey("--key", s.key, audit.ParsePrivateKey); err != nil {
			return err
		}
	}
	if err := s.checkFile(cmd, args); err != nil {
		return err
	}
	return s.open(cmd, args, func(ctx context.Context, f *audit.File, out *auditOutput) error {
		sessions, err := s.chosen(ctx, f, nameIn(args))
		if err != nil {
			return err
		}
		sealed, misfits, events := 0, 0, int64(0)
		out.did = func() string { return shareOf(sealed, sessions, "read") + ", nothing was written" }
		seal, err := f.Seal(ctx, s.which(args), func(found audit.Finding) error {
			misfits++
			text := findingText(found)
			if on := screenOf(cmd.ErrOrStderr()); on.columns > 0 {
				text = hanging(text, on.columns)
			}
			_, err := fmt.Fprintln(cmd.ErrOrStderr(), text)
			return err
		}, func(n int64) { sealed, events = sealed+1, events+n })
		switch {
		case err != nil:
			return err
		case misfits > 0 && !s.force:
			return &exitError{exitFindings, fmt.Errorf("%s: nothing was sealed; see audit verify, or use --force", plural(misfits, "finding"))}
		case s.file == "":
			return audit.WriteSeal(out.to, seal, key)
		}
		if err := s.write(func(w io.Writer) error { return audit.WriteSeal(w, seal, key) }); err != nil {
			return err
		}
		if s.json {
			return out.line(struct {
				File     string `json:"file"`
				Sessions int    `json:"sessions"`
				Events   int64  `json:"events"`
				Signed   bool   `json:"signed"`
			}{s.file, sealed, events, key != nil})
		}
		signed := ""
		if key != nil {
			signed = ", signed"
		}
		out.printf("%s, %s sealed in %s%s\n", plural(sealed, "session"), plural(int(events), "event"), printable(s.file), signed)
		return nil
	})
}

// checkFile refuses a file that the seal must not replace.
func (s *sealing) checkFile(cmd *cobra.Command, args []string) error {
	switch {
	case s.file == "" && cmd.Flags().Changed("output"):
		return badInput("-o is empty: name a file")
	case s.file == "":
		return nil
	case sameFile(s.file, args[0]):
		return badInput("-o %s is the session file itself: name another one", s.file)
	case isAny(s.file, databaseFiles(args[0])):
		return badInput("-o %s belongs to the session file, which may have its newest events there: name another one", s.file)
	case s.key != "" && sameFile(s.file, s.key):
		return badInput("-o %s is the key: name another one", s.file)
	}
	return replaceable("-o", s.file)
}

// write writes the seal to its file, which is whole afterwards or as it was.
func (s *sealing) write(to func(io.Writer) error) (err error) {
	pending, err := pendingFile("-o", s.file, renameio.WithPermissions(0o600))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pending.Cleanup()) }()
	if err := to(pending); err != nil {
		return failed("-o %s: %w: nothing was written", s.file, cause(err))
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return failed("-o %s: %w: nothing was written", s.file, err)
	}
	return nil
}

// which are the sessions that the flags and arguments mean.
func (a *auditing) which(args []string) audit.Which {
	return audit.Which{Narrow: a.narrow, Session: nameIn(args)}
}

// readKey reads the key in the file that a flag names.
func readKey[K any](flag, name string, parse func([]byte) (K, error)) (key K, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return key, badInput("%s %q: cannot be read: %w", flag, name, cause(err))
	}
	if key, err = parse(text); err != nil {
		return key, badInput("%s %s: %w", flag, name, err)
	}
	return key, nil
}

// againstSeal are the flags of verify that are about a seal, and the seal.
type againstSeal struct {
	file, key string
	seal      *audit.Seal
	signed    bool
	checked   bool // the signature
}

func (g *againstSeal) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.file, "against", "", "compare with this seal, as audit seal wrote it")
	cmd.Flags().StringVar(&g.key, "public-key", "", "check the seal's signature with the ed25519 key in this file (PEM)")
}

// read reads the seal, if there is one to compare with.
func (g *againstSeal) read(cmd *cobra.Command) error {
	g.checked = cmd.Flags().Changed("public-key")
	switch given := cmd.Flags().Changed("against"); {
	case !given && g.checked:
		return badInput("--public-key without --against: there is no signature to check")
	case !given:
		return nil
	}
	var key ed25519.PublicKey
	if g.checked {
		var err error
		if key, err = readKey("--public-key", g.key, audit.ParsePublicKey); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(g.file)
	if err != nil {
		return badInput("--against %q: cannot be read: %w", g.file, cause(err))
	}
	if g.seal, g.signed, err = audit.ReadSeal(text, key); err != nil {
		return badInput("--against %s: %w", g.file, err)
	}
	return nil
}

// allows forgives that no session is the one that is meant: the seal may know it.
func (g *againstSeal) allows(ctx context.Context, f *audit.File, which audit.Which, missing error) error {
	if g.seal == nil || missing == nil {
		return missing
	}
	sessions, err := f.Sessions(ctx, which.Narrow)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if which.Has(s) {
			return missing
		}
	}
	return nil
}

// compare compares the file with the seal. It returns nil if there is none.
func (g *againstSeal) compare(ctx context.Context, f *audit.File, which audit.Which, report func(audit.Finding) error) (*audit.Compared, error) {
	if g.seal == nil {
		return nil, nil
	}
	c, err := f.Against(ctx, g.seal, which, report)
	if err != nil {
		return nil, err
	}
	c.Signed = g.checked
	if c.Sessions == 0 && c.Findings == 0 && which != (audit.Which{}) {
		return nil, badInput("--against %s: the seal has no session of that name, app or user: nothing was compared", g.file)
	}
	return &c, nil
}

// tell says on one line what the comparison was about.
func (g *againstSeal) tell(out *auditOutput, c *audit.Compared) {
	text := "as sealed"
	if c.Findings > 0 {
		text = plural(c.Findings, "difference") + " from the seal"
	}
	text += " at " + moment(c.Made)
	switch {
	case c.Signed:
		text += " (its signature is good)"
	case g.signed:
		text += " (its signature was not checked: give --public-key)"
	default:
		text += " (it is not signed)"
	}
	out.printf("%s: %s, %s; since then %s and %s were added\n", text, plural(c.Sessions, "session"), plural(int(c.Events), "event"),
		plural(c.AddedSessions, "session"), plural(int(c.AddedEvents), "event"))
}
