package prompt

import "github.com/adk-go-ext/longsession/internal/configerr"

// ConfigError is one refused value: Field names it as the config does, Value is as it was given, and Reason says
// what is wrong with it, and what to do. Several are joined: errors.As finds the first. All packages of this
// module have the same type.
type ConfigError = configerr.Error
