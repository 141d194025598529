// Package scripted is a model of ADK that answers from a file, without a key and without a network.
package scripted
