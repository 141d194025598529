// Package terminal writes text for people: no wider than their terminal, in color where the
// terminal takes color, and without the control characters that recorded text may contain.
package terminal
