package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/openai"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// Named opens one model by its name, from where a chat with these flags has it, and calls none. flag is the one that names it.
// A price replaces what is known. No ceiling is asked for: the caller has one of its own. The error says what was refused.
func Named(ctx context.Context, flag, name string, flags config.Values, price tokens.Model) (*Setup, error) {
	on, warn := true, string(guard.UnpricedWarn)
	flags.Preset.Model, flags.Preset.NoCeiling, flags.Preset.Unpriced = &name, &on, &warn
	s, err := Resolve(ctx, Request{Flags: flags, Price: price, Flag: flag})
	if err != nil {
		return nil, err
	}
	if used := s.Model.Name(); used != name && !strings.HasPrefix(name, scriptedPrefix) {
		return nil, fmt.Errorf("%s is %s, which is turned off: name %s, which a chat uses instead", flag, terminal.Printable(name), used)
	}
	return s, nil
}

// GivenUp reports whether an error of a model is that of a call whose answer did not come, or not as a whole. Unlike one that
// is refused, it may have to be paid.
func GivenUp(err error) bool {
	return slices.ContainsFunc([]error{errSilent, openai.ErrIdle, errCut, io.ErrUnexpectedEOF}, func(kind error) bool { return errors.Is(err, kind) })
}

// Free reports whether the model costs nothing: a script, or a model without a price on this machine.
func (s *Setup) Free() bool { return s.free }
