//go:build !windows

package files

import (
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// newTemporary creates a temporary file next to the file that it will replace.
func newTemporary(target string, mode Mode) (temporary, error) {
	options := []renameio.Option{renameio.WithTempDir(filepath.Dir(target)), renameio.WithPermissions(fs.FileMode(mode))}
	if mode == Shared {
		options = append(options, renameio.WithExistingPermissions())
	}
	return renameio.NewPendingFile(target, options...)
}
