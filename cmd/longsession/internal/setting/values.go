package setting

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// Int is a whole number.
type Int struct {
	To          *int
	Least, Most int    // Most 0 is no limit
	Zero        string // what 0 does, such as "turns it off"; empty if that needs no words
}

// Set parses a number and checks its range.
func (i Int) Set(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return &Refused{text, "the number is out of range"}
	case err != nil:
		return &Refused{strconv.Quote(text), "it takes a whole number"}
	case n < i.Least && i.Least > 0:
		return &Refused{text, fmt.Sprintf("it must be at least %s%s", terminal.Commas(i.Least), means(i.Zero))}
	case n < i.Least:
		return &Refused{text, "it must not be negative" + means(i.Zero)}
	case n > i.Most && i.Most > 0:
		return &Refused{text, fmt.Sprintf("it must be at most %s%s", terminal.Commas(i.Most), means(i.Zero))}
	}
	*i.To = n
	return nil
}

func means(zero string) string {
	if zero == "" {
		return ""
	}
	return "; 0 " + zero
}

// String returns the value.
func (i Int) String() string { return strconv.Itoa(*i.To) }

// Type names the kind of value in the help.
func (i Int) Type() string { return "int" }

// Share is a share of something, from 0 to 1.
type Share struct {
	To   *float64
	Of   string // the whole, such as "the context window"
	Zero string // what 0 does
}

// Set parses a share.
func (s Share) Set(text string) error {
	share, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return &Refused{strconv.Quote(text), "it takes a share of " + s.Of + ", such as 0.7"}
	case !(share >= 0 && share <= 1):
		return &Refused{text, "it is a share of " + s.Of + ", from 0 to 1" + means(s.Zero)}
	}
	*s.To = share
	return nil
}

// String returns the value.
func (s Share) String() string { return strconv.FormatFloat(*s.To, 'g', -1, 64) }

// Type names the kind of value in the help.
func (s Share) Type() string { return "float" }

// Text is any text.
type Text struct{ To *string }

// Set takes the text.
func (t Text) Set(text string) error { *t.To = text; return nil }

// String returns the value.
func (t Text) String() string { return *t.To }

// Type names the kind of value in the help.
func (t Text) Type() string { return "string" }

// File is the name of a file.
type File struct {
	To      *string
	Endings []string // that a shell offers, such as "html"
}

// Set takes a name, which must not be empty.
func (f File) Set(name string) error {
	if name == "" {
		return &Refused{"", "name a file"}
	}
	*f.To = name
	return nil
}

// String returns the value.
func (f File) String() string { return *f.To }

// Type names the kind of value in the help.
func (f File) Type() string { return "string" }

func (f File) complete() cobra.CompletionFunc { return Files(f.Endings...) }

// Choice is one of some values.
type Choice struct {
	To *string
	// Values are the values, each with its meaning behind a tab if it needs one.
	Values []string
}

// Set takes one of the values.
func (c Choice) Set(text string) error {
	names := Names(c.Values)
	for _, name := range names {
		if name == text {
			*c.To = text
			return nil
		}
	}
	last := len(names) - 1
	return &Refused{strconv.Quote(text), "use " + strings.Join(names[:last], ", ") + " or " + names[last]}
}

// String returns the value.
func (c Choice) String() string { return *c.To }

// Type names the kind of value in the help.
func (c Choice) Type() string { return "string" }

func (c Choice) complete() cobra.CompletionFunc { return OneOf(c.Values...) }

// Switch is on or off.
type Switch struct{ To *bool }

// Set parses true or false.
func (s Switch) Set(text string) (err error) { *s.To, err = strconv.ParseBool(text); return err }

// String returns the value.
func (s Switch) String() string { return strconv.FormatBool(*s.To) }

// Type names the kind of value in the help.
func (s Switch) Type() string { return "bool" }

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

// Texts is any number of texts, one for each time that the flag is given.
type Texts struct{ To *[]string }

// Set adds a text.
func (t Texts) Set(text string) error { *t.To = append(*t.To, text); return nil }

// String returns the texts.
func (t Texts) String() string { return strings.Join(*t.To, ",") }

// Type names the kind of value in the help.
func (t Texts) Type() string { return "string" }

// Choices is any number of some values, separated by commas.
type Choices struct {
	To     *[]string
	Values []string
}

// Set adds values.
func (c Choices) Set(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		var value string
		if err := (Choice{&value, c.Values}).Set(one); err != nil {
			return err
		}
		*c.To = append(*c.To, value)
	}
	return nil
}

// String returns the values.
func (c Choices) String() string { return strings.Join(*c.To, ",") }

// Type names the kind of value in the help.
func (c Choices) Type() string { return "strings" }

func (c Choices) complete() cobra.CompletionFunc { return OneOf(c.Values...) }
