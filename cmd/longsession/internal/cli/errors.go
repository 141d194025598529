package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
)

// flagError rewords pflag's errors: a refused value goes behind the name of its flag, as in
// "--limit is -3: it must not be negative", and an unknown flag comes with the nearest known one.
func flagError(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &invalid):
		return invalidValue(invalid)
	case errors.As(err, &unknown):
		return unknownFlag(c, unknown)
	}
	return err
}

func invalidValue(invalid *pflag.InvalidValueError) error {
	name := "--" + invalid.GetFlag().Name
	if short := invalid.GetFlag().Shorthand; short != "" {
		name = "-" + short
	}
	if refused, ok := invalid.Unwrap().(*setting.Refused); ok {
		return exit.Usage("%s %w", name, refused)
	}
	return exit.Usage("%s: %w", name, invalid.Unwrap())
}

func unknownFlag(c *cobra.Command, unknown *pflag.NotExistError) error {
	var names []string
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	typed := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		typed, _, _ = strings.Cut(short, "=") // one dash instead of two
	}
	return fmt.Errorf("%w%s", unknown, suggest.DidYouMean(typed, names, "--"))
}

// unknownCommand adds the nearest known command to cobra's error about an unknown one.
func unknownCommand(c *cobra.Command, text string) string {
	rest, found := strings.CutPrefix(text, "unknown command ")
	if !found || c.HasParent() { // refuseUnknown has added it
		return text
	}
	var typed string
	if _, err := fmt.Sscanf(rest, "%q", &typed); err != nil {
		return text
	}
	return text + suggest.DidYouMean(typed, append(suggest.Commands(c), "help"), "")
}
