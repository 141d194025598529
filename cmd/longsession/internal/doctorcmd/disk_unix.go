//go:build linux || darwin

package doctorcmd

import "syscall"

// freeOn returns the bytes that a person may still write to the disk of a folder.
func freeOn(folder string) (free uint64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
