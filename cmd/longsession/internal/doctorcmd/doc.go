// Package doctorcmd is longsession doctor: checks what a chat needs.
package doctorcmd
