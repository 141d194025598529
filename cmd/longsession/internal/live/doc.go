// Package live serves a session file as web pages: the conversation as people see it, what the model sees of it, each
// summary next to what it replaced, and how prompts and costs grew. The pages follow a session while an app writes it.
//
// [New] opens a file and returns a handler that only reads. The pages work without scripts; the script of the
// package draws the curves and asks every second whether anything new was stored. Nothing comes from another host,
// and the handler answers only requests that name the local machine.
package live
