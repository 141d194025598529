//go:build !unix

package agentsmd

import "os"

// nonblock is not needed where files cannot be replaced by pipes.
const nonblock = 0

// exists reports whether there is a file, of any kind.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
