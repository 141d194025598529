package auditcmd

import (
	"context"
	"crypto/ed25519"
	"os"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/files"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// sealCheck holds the flags of verify about a seal, and the seal.
type sealCheck struct {
	file, key string
	seal      *audit.Seal
	signed    bool
	checked   bool // the signature
}

func (c *sealCheck) addFlags(cmd *cobra.Command) {
	setting.Add(cmd,
		setting.Setting{Name: "against", Value: setting.File(&c.file, "json", "seal"), Help: "compare with this seal, as audit seal wrote it"},
		setting.Setting{Name: "public-key", Value: setting.File(&c.key, "pem", "pub"), Help: "check the seal's signature with the ed25519 key in this file (PEM)"})
}

// read reads the seal, if one was given.
func (c *sealCheck) read(cmd *cobra.Command) error {
	c.checked = c.key != ""
	switch {
	case c.file == "" && c.checked:
		return exit.Usage("--public-key without --against: there is no signature to check")
	case c.file == "":
		return nil
	}
	var key ed25519.PublicKey
	if c.checked {
		var err error
		if key, err = readKey("--public-key", c.key, audit.ParsePublicKey); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(c.file)
	if err != nil {
		return exit.Usage("--against %q: cannot be read: %w", c.file, files.Cause(err))
	}
	if c.seal, c.signed, err = audit.ReadSeal(text, key); err != nil {
		return exit.Usage("--against %s: %w", c.file, err)
	}
	return nil
}

// allows accepts that the named session is missing from the file, since the seal may know it: to
// verify a session that was deleted is to find that it was. It returns the error about a name that
// fits several sessions.
func (c *sealCheck) allows(ctx context.Context, f *audit.File, which audit.Which, missing error) error {
	if c.seal == nil || missing == nil {
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

// compare compares the file with the seal. It returns nil without a seal.
func (c *sealCheck) compare(ctx context.Context, f *audit.File, which audit.Which, report func(audit.Finding) error) (*audit.Compared, error) {
	if c.seal == nil {
		return nil, nil
	}
	compared, err := f.Against(ctx, c.seal, which, report)
	if err != nil {
		return nil, err
	}
	compared.Signed = c.checked
	if compared.Sessions == 0 && compared.Findings == 0 && which != (audit.Which{}) {
		return nil, exit.Usage("--against %s: the seal has no session of that name, app or user: nothing was compared", c.file)
	}
	return &compared, nil
}

// show writes the result of the comparison on one line.
func (c *sealCheck) show(out *output, compared *audit.Compared) {
	text := "as sealed"
	if compared.Findings > 0 {
		text = terminal.Plural(compared.Findings, "difference") + " from the seal"
	}
	text += " at " + moment(compared.Made)
	switch {
	case compared.Signed:
		text += " (its signature is good)"
	case c.signed:
		text += " (its signature was not checked: give --public-key)"
	default:
		text += " (it is not signed)"
	}
	out.printf("%s: %s, %s; added since then: %s and %s\n", text, terminal.Plural(compared.Sessions, "session"), terminal.Plural(compared.Events, "event"),
		terminal.Plural(compared.AddedSessions, "session"), terminal.Plural(compared.AddedEvents, "event"))
}

// readKey reads the key in the file that a flag names.
func readKey[K any](flag, name string, parse func([]byte) (K, error)) (key K, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return key, exit.Usage("%s %q: cannot be read: %w", flag, name, files.Cause(err))
	}
	if key, err = parse(text); err != nil {
		return key, exit.Usage("%s %s: %w", flag, name, err)
	}
	return key, nil
}
