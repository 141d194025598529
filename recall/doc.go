// Package recall searches the raw history of a session for a model, and for people.
package recall
