package conversation

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// ReadFile returns all conversations of a file, in any of the forms that the package comment
// describes. It holds them all in memory; [Reader] holds one at a time. Errors about the content
// are of type *[Error], whose File is the last element of path. The first error ends the reading.
func ReadFile(path string) ([]*Conversation, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	var all []*Conversation
	for r := NewReader(f, filepath.Base(path)); ; {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
}
