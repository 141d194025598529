package toolresult

import "github.com/adk-go-ext/longsession/internal/configerr"

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

// ConfigError is one refused value: Field names it as the configuration does, such as PerTool["grep"].MaxBytes,
// Value is as it was given, and Reason says what is wrong with it, and what to do. Several are joined: errors.As
// finds the first. All packages of this module have the same type.
type ConfigError = configerr.Error
