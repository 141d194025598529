// Package sessionlock lets one chat at a time use a session of a file, by a lock that the kernel releases.
package sessionlock
