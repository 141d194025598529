package prompt

import (
	"errors"

	"github.com/adk-go-ext/longsession/internal/configerr"
)

// ErrUntrusted is in the error of a [Source] whose text must not be used, nor what it said before: for example the files
// of a project that nobody has trusted.
var ErrUntrusted = errors.New("project is not trusted")

// ConfigError is one refused value: Field names it as the config does, Value is as it was given, and Reason says
// what is wrong with it, and what to do. Several are joined: errors.As finds the first. All packages of this
// module have the same type.
type ConfigError = configerr.Error
