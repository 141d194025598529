package replaycmd

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/configerr"
)

// fieldName finds what may be the name of a field in the reason of a [compaction.ConfigError].
var fieldName = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)

// inFlags reports the fields that the library refuses under the names of their flags. The reason
// stays as the library wrote it. If it names other fields, their flags follow in brackets:
//
//	--token-threshold is 7000: it would never be reached: SafetyRatio 0.7 × (ContextWindow 8000 - ...
//	(here SafetyRatio is --safety-ratio, ContextWindow is --context-window)
func (p *policy) inFlags(err error) error {
	settings := p.settings()
	flagOf := func(field string) (string, bool) {
		field = field[strings.LastIndexByte(field, '.')+1:] // a stack puts the layer in front
		i := slices.IndexFunc(settings, func(s setting.Setting) bool { return s.Field == field })
		if i < 0 {
			return "", false
		}
		return "--" + settings[i].Name, true
	}
	if err == nil {
		return nil
	}
	var problems []string
	for _, refused := range configerr.All(err) {
		flag, ok := flagOf(refused.Field)
		if !ok {
			problems = append(problems, refused.Error())
			continue
		}
		inFlag := compaction.ConfigError{Field: flag, Value: refused.Value, Reason: refused.Reason}
		problems = append(problems, inFlag.Error()+legend(refused.Reason, flagOf))
	}
	if len(problems) == 0 {
		return exit.Usage("%w", err)
	}
	return exit.Usage("%s", strings.Join(problems, "; "))
}

// legend translates the fields that a reason names.
func legend(reason string, flagOf func(field string) (string, bool)) string {
	var words []string
	for _, name := range fieldName.FindAllString(reason, -1) {
		flag, ok := flagOf(name)
		if _, field := reflect.TypeFor[compaction.Config]().FieldByName(name); field && !ok {
			flag = "not a flag"
		} else if name == "Off" {
			flag = "0"
		} else if !ok {
			continue
		}
		if text := name + " is " + flag; !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " (here " + strings.Join(words, ", ") + ")"
}
