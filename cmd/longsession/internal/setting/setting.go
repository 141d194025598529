// Package setting describes each flag once: its name and help, the values it takes, the values a
// shell offers for it and, if the flag sets a field of a library's config, the name of that field.
package setting

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Setting is a flag of a command.
type Setting struct {
	Name, Short string // Short is one letter, or empty
	Help        string
	// Value holds the default at first. Its Set refuses a wrong value with a [*Refused].
	Value Value
	// Complete offers values to a shell. If nil, Value offers them; most offer nothing.
	Complete cobra.CompletionFunc
	// Field is the field of the library's config that the flag sets, as the library's errors call
	// it.
	Field string
}

// Add gives a command the flags that the settings describe. Help lists them in this order.
func Add(c *cobra.Command, settings ...Setting) { add(c, c.Flags(), settings) }

// AddPersistent gives the flags to the subcommands of c too.
func AddPersistent(c *cobra.Command, settings ...Setting) { add(c, c.PersistentFlags(), settings) }

func add(c *cobra.Command, flags *pflag.FlagSet, settings []Setting) {
	flags.SortFlags = false
	for _, s := range settings {
		f := flags.VarPF(s.Value, s.Name, s.Short, s.Help)
		if s.Value.kind == "bool" {
			f.NoOptDefVal = "true" // the flag alone turns it on
			continue
		}
		offers := []cobra.CompletionFunc{s.Complete, s.Value.offer, cobra.NoFileCompletions}
		offer := offers[slices.IndexFunc(offers, func(f cobra.CompletionFunc) bool { return f != nil })]
		if err := c.RegisterFlagCompletionFunc(s.Name, offer); err != nil {
			panic(err) // two settings of one name
		}
	}
}

// Find returns the setting of a name.
func Find(settings []Setting, name string) (Setting, bool) {
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return Setting{}, false
	}
	return settings[i], true
}

// Refused is a value that a flag does not take.
type Refused struct {
	Value  string // as it was typed
	Reason string // what is wrong with it, and the remedy
}

// Error goes behind the name of the flag: "is -3: it must not be negative".
func (r *Refused) Error() string {
	if r.Value == "" {
		return "is empty: " + r.Reason
	}
	return "is " + r.Value + ": " + r.Reason
}
