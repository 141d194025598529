// Package audit reads a session file of package persistence: what was said, what the model sees of
// it, which compactions were made, and whether the file is consistent. It cannot write to the file.
package audit
