package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearest returns the names that are most like one that was typed: those it is the beginning of or, with
// a typing error or a few, those it is meant to be. It is empty if none is near.
func nearest(typed string, names []string) []string {
	typed = strings.ToLower(typed)
	var found, begun []string
	least := 1 + min(2, len(typed)/3)
	if len(typed) > 8 {
		least++
	}
	for _, name := range names {
		if len(typed) >= 2 && strings.HasPrefix(name, typed) {
			begun = append(begun, name)
		}
		distance := levenshtein.ComputeDistance(typed, name)
		switch {
		case distance >= max(len(typed), 1): // they have nothing in common
		case distance < least:
			least, found = distance, []string{name}
		case distance == least:
			found = append(found, name)
		}
	}
	if len(begun) > 0 {
		return begun
	}
	return found
}

// didYouMean is a part of a message that names the nearest of some names, each behind prefix; "" if none is
// near.
func didYouMean(typed string, names []string, prefix string) string {
	found := nearest(typed, names)
	if len(found) == 0 {
		return ""
	}
	for i := range found {
		found[i] = prefix + found[i]
	}
	last := len(found) - 1
	if last == 0 {
		return " (did you mean " + found[0] + "?)"
	}
	return " (did you mean " + strings.Join(found[:last], ", ") + " or " + found[last] + "?)"
}

// unknownFlag adds to the error about a flag that there is not which one may have been meant.
func unknownFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
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
		typed, _, _ = strings.Cut(short, "=") // one dash for two
	}
	return fmt.Errorf("%w%s", err, didYouMean(typed, names, "--"))
}

// unknownCommand adds to cobra's error about a command that there is not which one may have been meant.
func unknownCommand(c *cobra.Command, text string) string {
	rest, found := strings.CutPrefix(text, "unknown command ")
	if !found || c.HasParent() { // those of a command have theirs, see refuseUnknown
		return text
	}
	var typed string
	if _, err := fmt.Sscanf(rest, "%q", &typed); err != nil {
		return text
	}
	return text + didYouMean(typed, append(commandNames(c), "help"), "")
}
