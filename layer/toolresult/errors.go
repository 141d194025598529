package toolresult

import "fmt"

// Off turns a number off. In every setting of this package, 0 is the default.
const Off = -1

// orDefault returns the value that a setting means: standard for 0, and 0 for Off.
func orDefault[N ~int | ~int64 | ~float64](n, standard N) N {
	switch n {
	case 0:
		return standard
	case Off:
		return 0
	}
	return n
}

// ConfigError is one refused value of a configuration. Constructors report all refused values at once,
// joined. errors.As finds the first of them.
type ConfigError struct {
	Field  string // as the configuration names it, such as "KeepFirst" or PerTool["grep"].MaxBytes
	Value  any    // as it was given
	Reason string // the problem and the remedy
}

// Error names the field, its value and what is wrong.
func (e *ConfigError) Error() string {
	value := fmt.Sprint(e.Value)
	if s, ok := e.Value.(string); ok {
		value = fmt.Sprintf("%.40q", s)
	}
	return fmt.Sprintf("%s is %s: %s", e.Field, value, e.Reason)
}
