package compaction

import (
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

// GetCompactionMetadata returns the record that ev carries. It returns nil, nil for an event that is
// none, and an error wrapping record.ErrMalformed for a record that cannot be read.
func GetCompactionMetadata(ev *session.Event) (*CompactionMetadata, error) { return record.From(ev) }

// SetCompactionMetadata stores a record in the event's CustomMetadata. It is for tests and tools: a
// service strips records from the events that come in through AppendEvent.
func SetCompactionMetadata(ev *session.Event, m *CompactionMetadata) {
	if ev != nil && m != nil {
		record.Set(ev, m)
	}
}
