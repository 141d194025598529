// Package configcmd is longsession config: shows and checks settings.
package configcmd
