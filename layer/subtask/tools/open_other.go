//go:build !linux

package tools

import "os"

// onSystemFS knows of no such filesystems outside of Linux.
func onSystemFS(*os.File) bool { return false }
