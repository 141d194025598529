package agentsmd

import (
	"fmt"
	"strings"

	"github.com/adk-go-ext/longsession/internal/notes"
)

// load reads the files of a survey and merges them. It sets the survey's unstable if a file could not be read.
func (s settings) load(from *survey) LoadResult {
	result := LoadResult{Root: from.root, Sources: make([]FileSource, len(from.files))}
	var blocks []block
	var sources []int // of each block
	for i, f := range from.files {
		source := &result.Sources[i]
		*source = FileSource{Path: f.path, Global: f.global, SameAs: f.sameAs}
		if f.err != nil {
			source.Err = f.err
			continue
		}
		if f.sameAs != "" {
			continue
		}
		b, transient, problem := s.block(f)
		if problem != nil {
			source.Err = problem
		}
		from.unstable = from.unstable || transient
		if b.text != "" {
			blocks, sources = append(blocks, b), append(sources, i)
		}
	}
	merged, kept := merge(blocks, s.maxBytes)
	result.Merged, result.Bytes = merged, len(merged)
	for i, b := range blocks {
		source := &result.Sources[sources[i]]
		source.Bytes, source.Cut = kept[i], b.size()-kept[i]
		if kept[i] > 0 {
			result.NumSources++
		}
		result.Truncated = result.Truncated || source.Cut > 0
	}
	return result
}

// block reads one file. An empty file has an empty text.
func (s settings) block(f found) (b block, transient bool, problem *FileError) {
	data, size, transient, problem := s.read(f)
	if problem != nil {
		return b, transient, problem
	}
	unread := 0
	if size > int64(len(data)) {
		unread = int(size) - len(data)
		whole := wholeLines(data)
		unread += len(data) - len(whole)
		data = whole
	}
	text, reason, refused := decode(data)
	if unread > 0 && !refused {
		reason = joinReasons(reason, fmt.Sprintf("has %d bytes, and only the first %d are read: shorten it", size, len(data)))
	}
	if reason != "" {
		problem = &FileError{Path: f.path, Reason: reason}
	}
	if refused || strings.TrimSpace(text) == "" {
		return b, false, problem
	}
	return block{label: f.label, global: f.global, text: endLine(escapeFrames(notes.Clean(text))), unread: unread}, false, problem
}

func joinReasons(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; it " + b
}
