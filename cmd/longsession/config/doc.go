// Package config reads settings from flags, environment variables and a TOML file, and makes a
// [longsession.Config] of them, so that an existing app is configured without code:
//
//	cfg, err := config.Load("longsession.toml", llm)
//	...
//	stack, err := longsession.New(sessions, cfg)
//
// The nearest source that sets a value wins, as package preset says: flag > environment > file > app > task class >
// preset > default. [Resolve] has each value with its origin.
//
// A file is read strictly. A key that does not exist, is given twice, has a value of the wrong type, or belongs to a
// newer version is a [*FileError] with line and column, and with the nearest key that exists. A value that is set
// takes effect, or it is refused by name.
//
// [Keys] lists every key; docs/settings.md is the schema.
package config
