package compaction

import (
	"errors"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// CompactionMetadataKey is the CustomMetadata key under which a compaction record is stored.
const CompactionMetadataKey = record.Key

// CompactionMetadata is one compaction record; see package record.
type CompactionMetadata = record.Metadata

// IsCompactionEvent reports whether ev is a compaction record: bookkeeping without content. It is
// false for nil.
func IsCompactionEvent(ev *session.Event) bool { return record.Is(ev) }

// ErrNoRecord says that an event carries no compaction record.
var ErrNoRecord = errors.New("event carries no compaction record")

// GetCompactionMetadata returns the record that ev carries. The error wraps [ErrNoRecord] for an event
// that is none, nil included, and record.ErrMalformed for a record that cannot be read.
func GetCompactionMetadata(ev *session.Event) (*CompactionMetadata, error) {
	m, err := record.From(ev)
	if err == nil && m == nil {
		return nil, ErrNoRecord
	}
	return m, err
}

// SetCompactionMetadata stores a record in the event's CustomMetadata. It is for tests and tools: a
// service strips records from the events that come in through AppendEvent. The error names what is nil,
// or wraps record.ErrMalformed for a record that nobody could read; the event is then as it was.
func SetCompactionMetadata(ev *session.Event, m *CompactionMetadata) error {
	switch {
	case ev == nil:
		return errors.New("set compaction record: event is nil")
	case m == nil:
		return errors.New("set compaction record: record is nil")
	}
	if _, err := record.Decode(record.Encode(m)); err != nil {
		return fmt.Errorf("set compaction record: %w", err)
	}
	record.Set(ev, m)
	return nil
}
