// Package transfercmd is longsession export and longsession import: they copy sessions from a session file to PostgreSQL
// and back.
package transfercmd
