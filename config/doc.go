// Package config reads the settings of an app from a TOML file, so that an existing app is configured without
// code.
package config
