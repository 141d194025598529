// Package terminal writes text for people: no wider than their terminal, in colour where the
// terminal takes colour, and without the control characters that recorded text may contain.
package terminal
