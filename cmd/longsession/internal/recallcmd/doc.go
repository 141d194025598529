// Package recallcmd is longsession recall: it searches a session file, for people.
package recallcmd
