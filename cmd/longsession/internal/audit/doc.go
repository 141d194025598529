// Package audit reads a session file of package persistence for somebody who wants to know what was said,
// what the model sees of it, which compactions were made, and whether all of that is as it must be. It
// cannot write.
package audit
