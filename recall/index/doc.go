// Package index finds events of a session by their words, for package recall.
package index
