package chatcmd

import (
	"errors"
	"regexp"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/internal/configerr"
)

// fieldName finds what may be the name of a field of a configuration.
var fieldName = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)

// inFlags puts flags in the place of the fields that a refused configuration names: a person who types
// --context-window 1 has no field ContextWindow.
func (c *command) inFlags(err error) error {
	flags := map[string]string{}
	for _, key := range config.Keys() {
		for effect := range strings.SplitSeq(key.Effect, ", ") {
			field := effect[strings.LastIndexByte(effect, '.')+1:]
			if flags[field] == "" && key.Flag != "" && fieldName.FindString(field) == field {
				flags[field] = "--" + key.Flag
			}
		}
	}
	if c.window > 0 {
		flags["ContextWindow"] = "--context-window"
	}
	var problems []string
	for _, refused := range configerr.All(err) {
		shown := *refused
		shown.Field = shown.Field[strings.LastIndexByte(shown.Field, '.')+1:] // a stack puts the layer in front
		text := fieldName.ReplaceAllStringFunc(shown.Error(), func(name string) string {
			if flag := flags[name]; flag != "" {
				return flag
			}
			return name
		})
		problems = append(problems, text)
	}
	if len(problems) == 0 {
		return err
	}
	return errors.New(strings.Join(problems, "; "))
}
