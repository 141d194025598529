package setting

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// Value is the value of a flag. It is a [pflag.Value] made of functions.
type Value struct {
	kind  string // as the help names it
	text  func() string
	set   func(text string) error
	offer cobra.CompletionFunc // nil offers nothing
}

// New returns a value whose text is that of text, and that set parses. set returns a [*Refused], or
// an error that goes behind the name of the flag and a colon.
func New(text func() string, set func(text string) error) Value {
	return Value{kind: "string", text: text, set: set}
}

// NewSwitch returns a value that is on or off, as [New] does. The flag alone turns it on.
func NewSwitch(text func() string, set func(on bool) error) Value {
	on := false
	v := Switch(&on)
	v.text = text
	parse := v.set
	v.set = func(typed string) error {
		if err := parse(typed); err != nil {
			return err
		}
		return set(on)
	}
	return v
}

// Set parses a value. If it refuses one, the value stays as it was.
func (v Value) Set(text string) error { return v.set(text) }

// String returns the value as Set takes it.
func (v Value) String() string { return v.text() }

// Type names the kind of value in the help.
func (v Value) Type() string { return v.kind }

// NoLimit is the most of an [Int] without an upper bound.
const NoLimit = 0

// Int is a whole number from least to most. zero says what 0 does, such as "turns it off"; it may
// be empty.
func Int(to *int, least, most int, zero string) Value {
	return Value{kind: "int", text: func() string { return strconv.Itoa(*to) }, set: func(text string) error {
		n, err := strconv.Atoi(text)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return &Refused{text, "the number is out of range"}
		case err != nil:
			return &Refused{strconv.Quote(text), "it takes a whole number"}
		case n < least && least > 0:
			return &Refused{text, fmt.Sprintf("it must be at least %s%s", terminal.Commas(least), meaning(zero))}
		case n < least:
			return &Refused{text, "it must not be negative" + meaning(zero)}
		case n > most && most != NoLimit:
			return &Refused{text, fmt.Sprintf("it must be at most %s%s", terminal.Commas(most), meaning(zero))}
		}
		*to = n
		return nil
	}}
}

func meaning(zero string) string {
	if zero == "" {
		return ""
	}
	return "; 0 " + zero
}

// Share is a share of a whole, such as "the context window", from 0 to 1. zero says what 0 does.
func Share(to *float64, whole, zero string) Value {
	return Value{kind: "float", text: func() string { return strconv.FormatFloat(*to, 'g', -1, 64) }, set: func(text string) error {
		share, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return &Refused{strconv.Quote(text), "it takes a share of " + whole + ", such as 0.7"}
		case !(share >= 0 && share <= 1):
			return &Refused{text, "it is a share of " + whole + ", from 0 to 1" + meaning(zero)}
		}
		*to = share
		return nil
	}}
}

// Switch is on or off.
func Switch(to *bool) Value {
	return Value{kind: "bool", text: func() string { return strconv.FormatBool(*to) }, set: func(text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return &Refused{strconv.Quote(text), "it takes true or false"}
		}
		*to = on
		return nil
	}}
}

// Text is any text.
func Text(to *string) Value {
	return New(func() string { return *to }, func(text string) error { *to = text; return nil })
}

// Texts is any number of texts, one for each time that the flag is given. check may refuse one.
func Texts(to *[]string, check func(string) error) Value {
	return New(func() string { return strings.Join(*to, ",") }, func(text string) error {
		if err := check(text); err != nil {
			return err
		}
		*to = append(*to, text)
		return nil
	})
}

// File is the name of a file, which must not be empty. A shell offers files with the endings.
func File(to *string, endings ...string) Value {
	v := named(to, "name a file")
	v.offer = Files(endings...)
	return v
}

// Output is the name of a file to write. "-" is standard output as elsewhere, for which the name is "".
func Output(to *string, endings ...string) Value {
	v := File(to, endings...)
	set := v.set
	v.set = func(name string) error {
		err := set(name)
		if name == "-" {
			*to = ""
		}
		return err
	}
	return v
}

// Folder is the name of a folder, which must not be empty. A shell offers folders.
func Folder(to *string) Value {
	v := named(to, "name a folder")
	v.offer = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return v
}

func named(to *string, remedy string) Value {
	return New(func() string { return *to }, func(name string) error {
		if name == "" {
			return &Refused{"", remedy}
		}
		*to = name
		return nil
	})
}

// Choice is one of some values, each with its meaning behind a tab if it needs one.
func Choice(to *string, values ...string) Value {
	v := New(func() string { return *to }, func(text string) error {
		if err := choose(text, Names(values)); err != nil {
			return err
		}
		*to = text
		return nil
	})
	v.offer = OneOf(values...)
	return v
}

// Choices is any number of some values, separated by commas.
func Choices(to *[]string, values ...string) Value {
	v := New(func() string { return strings.Join(*to, ",") }, func(text string) error {
		chosen := strings.Split(text, ",")
		for _, one := range chosen {
			if err := choose(one, values); err != nil {
				return err
			}
		}
		*to = append(*to, chosen...)
		return nil
	})
	v.offer = OneOf(values...)
	return v
}

func choose(text string, names []string) error {
	if slices.Contains(names, text) {
		return nil
	}
	return &Refused{strconv.Quote(text), "use " + terminal.List(names, "or")}
}

// Names returns values without their meanings.
func Names(values []string) []string {
	var names []string
	for _, value := range values {
		name, _, _ := strings.Cut(value, "\t")
		names = append(names, name)
	}
	return names
}

// OneOf offers a shell one of some values, each with its meaning behind a tab if it needs one.
func OneOf(values ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return suggest.Starting(values, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// Files offers a shell the files with one of some endings.
func Files(endings ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}
