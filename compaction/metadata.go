package compaction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/ids"
	"github.com/adk-go-ext/longsession/record"
)

// CompactionMetadataKey is the CustomMetadata key under which a compaction record is stored.
const CompactionMetadataKey = record.Key

// CompactionMetadata is one compaction record; see package record.
type CompactionMetadata = record.Metadata

// IsCompactionEvent reports whether ev is a compaction record, which has no content. It is false
// for nil.
func IsCompactionEvent(ev *session.Event) bool { return record.Is(ev) }

// ErrNoRecord is the error for an event without a compaction record.
var ErrNoRecord = errors.New("event carries no compaction record")

// GetCompactionMetadata returns the record in ev. The error wraps [ErrNoRecord] if ev is nil or has
// no record, and record.ErrMalformed if the record cannot be read.
func GetCompactionMetadata(ev *session.Event) (*CompactionMetadata, error) {
	m, err := record.From(ev)
	if err == nil && m == nil {
		return nil, ErrNoRecord
	}
	return m, err
}

// SetCompactionMetadata stores a record in the event's CustomMetadata. It is for tests and tools: a
// service strips records from the events that are passed to AppendEvent.
//
// The nine fields of ADR-009 are enough. Where m has none, the record gets a new RecordID, the kind of a summary and the
// present as CreatedAt; m is not changed. A record that names neither covered events nor absorbed records is shown and
// hides nothing, whatever its range of times is.
//
// If ev or m is nil, the error names it. If the record could not be read back, the error wraps record.ErrMalformed. On
// an error the event is unchanged.
func SetCompactionMetadata(ev *session.Event, m *CompactionMetadata) error {
	switch {
	case ev == nil:
		return errors.New("set compaction record: event is nil")
	case m == nil:
		return errors.New("set compaction record: record is nil")
	}
	whole := *m
	if whole.RecordID == "" {
		whole.RecordID = ids.New(context.Background())
	}
	whole.Kind = cmp.Or(whole.Kind, record.KindSummary)
	if whole.CreatedAt.IsZero() {
		whole.CreatedAt = time.Now()
	}
	if len(whole.Covered) == 0 && len(whole.Absorbed) == 0 {
		whole.Covered = []record.Ref{{ID: ids.New(context.Background())}} // no event has it
	}
	if _, err := record.Decode(record.Encode(&whole)); err != nil {
		return fmt.Errorf("set compaction record: %w", err)
	}
	record.Set(ev, &whole)
	return nil
}
