package live

import (
	"errors"
	"sync"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

// source is a session file that an app may begin to write, or replace, while it is open. Then it is opened again.
type source struct {
	path string

	mu   sync.RWMutex
	file *audit.File // nil if it could not be opened again
}

func openSource(path string) (*source, error) {
	f, err := audit.Open(path)
	if err != nil {
		return nil, err
	}
	return &source{path: path, file: f}, nil
}

// read calls do with the open file, and once more if the file has to be opened again first.
func (s *source) read(do func(*audit.File) error) error {
	f, err := s.try(do)
	if f == nil || reopens(err) {
		if err := s.reopen(f); err != nil {
			return err
		}
		_, err = s.try(do)
	}
	return err
}

// try returns the file that do was called with, nil if none is open.
func (s *source) try(do func(*audit.File) error) (*audit.File, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.file == nil {
		return nil, errClosed
	}
	return s.file, do(s.file)
}

var errClosed = errors.New("the session file is not open")

// reopen opens the file again, unless another call has done so since old was open.
func (s *source) reopen(old *audit.File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil && s.file != old {
		return nil
	}
	if s.file != nil {
		_ = s.file.Close() // it is only read
		s.file = nil
	}
	f, err := audit.Open(s.path)
	if err == nil {
		s.file = f
	}
	return err
}

func (s *source) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
