package prompt

import "fmt"

// ConfigError is one value of a config that is refused. The constructors report all of them at once, joined:
// errors.As finds the first.
type ConfigError struct {
	Field  string // of the config
	Value  any    // as it was given
	Reason string // what is wrong with it, and what to do, naming other fields as the config does
}

// Error names the field, its value and what is wrong.
func (e *ConfigError) Error() string {
	value := fmt.Sprint(e.Value)
	switch v := e.Value.(type) {
	case nil:
		value = "nil"
	case string:
		value = fmt.Sprintf("%.40q", v)
	}
	return fmt.Sprintf("%s is %s: %s", e.Field, value, e.Reason)
}
