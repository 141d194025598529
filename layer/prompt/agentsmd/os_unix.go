//go:build unix

package agentsmd

import "syscall"

// nonblock keeps the opening of a pipe from waiting for a writer, if one takes the place of a file.
const nonblock = syscall.O_NONBLOCK

// exists reports whether there is a file, of any kind. It allocates less than os.Lstat.
func exists(path string) bool {
	var stat syscall.Stat_t
	for {
		if err := syscall.Lstat(path, &stat); err != syscall.EINTR {
			return err == nil
		}
	}
}
