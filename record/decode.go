package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// ErrMalformed marks a value under [Key] that is not a record of this version.
var ErrMalformed = errors.New("malformed compaction record")

// Is reports whether ev is bookkeeping: it carries [Key] and does not speak. This module never
// writes a record into an event with content. An event with content is therefore conversation,
// whatever its metadata claims, and a forged record cannot make a turn vanish.
func Is(ev *session.Event) bool {
	if ev == nil {
		return false
	}
	if _, ok := ev.CustomMetadata[Key]; !ok {
		return false
	}
	return !adk.Classify(ev).Is(adk.Speaks)
}

// IsForeign reports whether ev is a summary that another implementation of ADR-009 stored: a message that carries the
// fields of the design under [Key], as a map, as JSON, or, in memory, as a value of a type of its own, and no record of
// this package. It names no events, so nothing shows what it stands for: it is conversation like any other message. It is
// false for nil.
func IsForeign(ev *session.Event) bool {
	if ev == nil || Is(ev) {
		return false
	}
	value, marked := ev.CustomMetadata[Key]
	if !marked {
		return false
	}
	if text, ok := value.(string); ok {
		value = nil
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return false
		}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return reflect.Indirect(reflect.ValueOf(value)).Kind() == reflect.Struct
	}
	_, summary := object[fContent].(string)
	_, version := object[fVersion]
	return summary && !version
}

// From returns the record that ev carries. It returns nil, nil for an event that is not
// bookkeeping, and an error that wraps [ErrMalformed] for bookkeeping that it cannot read.
func From(ev *session.Event) (*Metadata, error) {
	if !Is(ev) {
		return nil, nil
	}
	return Decode(ev.CustomMetadata[Key])
}

// Decode reads a stored record. The value may be the map that [Encode] returns, that map as any of
// ADK's session services returns it, or its JSON as a string. Decode never panics and keeps no
// reference to the value. Its errors wrap [ErrMalformed] and name the field.
func Decode(value any) (*Metadata, error) {
	if text, ok := value.(string); ok {
		var object map[string]any
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
		}
		value = object
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: want an object, got %T", ErrMalformed, value)
	}
	d := decoder{object: object}
	if v := d.integer(fVersion, required); d.err == nil && v != Version {
		return nil, fmt.Errorf("%w: version %d, this package reads version %d", ErrMalformed, v, Version)
	}
	m := &Metadata{
		RecordID:             d.text(fRecordID, required),
		Kind:                 Kind(d.text(fKind, required)),
		StartTimestamp:       d.time(fStartTimestamp, required),
		EndTimestamp:         d.time(fEndTimestamp, required),
		StartInvocationID:    d.text(fStartInvocationID, optional),
		EndInvocationID:      d.text(fEndInvocationID, optional),
		CompactedContentJSON: d.text(fContent, required),
		Uncut:                decodeUncut(object),
		EventCount:           d.integer(fEventCount, optional),
		OriginalTokens:       d.integer(fOriginalTokens, optional),
		CompactedTokens:      d.integer(fCompactedTokens, optional),
		CompressionRatio:     d.number(fCompressionRatio, optional),
		CreatedAt:            d.time(fCreatedAt, required),
		Level:                d.integer(fLevel, optional),
		Branch:               d.text(fBranch, optional),
		Covered:              d.refs(fCovered),
		Absorbed:             d.texts(fAbsorbed),
		Through:              d.ref(fThrough),
		CheckpointThrough:    d.ref(fCheckpointThrough),
		After:                d.ref(fAfter),
		Agent:                d.text(fAgent, optional),
		Trigger:              Trigger(d.text(fTrigger, optional)),
		Focus:                d.text(fFocus, optional),
		Note:                 d.text(fNote, optional),
		Model:                d.text(fModel, optional),
		Usage:                d.usage(fUsage),
		Values:               decodeValues(object[fValues], ofValues),
		LedgerTokens:         decodeCount(object, fLedgerTokens, maxLedgerTokens),
		Said:                 decodeValues(object[fSaid], ofSaid),
		SaidTokens:           decodeCount(object, fSaidTokens, maxLedgerTokens),
		UserTokens:           decodeCount(object, fUserTokens, maxUserTokens),
		AsksSecret:           object[fAsksSecret] == true,
		Kept:                 decodeShare(object, fKept),
		Invented:             decodeCount(object, fInvented, maxInvented),
	}
	if d.err != nil {
		return nil, d.err
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// validate refuses records that have the right shape but would hide events without showing a
// summary, or could not be shown where they claim to belong.
func (m *Metadata) validate() error {
	switch {
	case m.RecordID == "":
		return fmt.Errorf("%w: empty %s", ErrMalformed, fRecordID)
	case m.Kind != KindSummary && m.Kind != KindCheckpoint:
		return fmt.Errorf("%w: unknown %s %q", ErrMalformed, fKind, m.Kind)
	case m.EndTimestamp.Before(m.StartTimestamp):
		return fmt.Errorf("%w: %s before %s", ErrMalformed, fEndTimestamp, fStartTimestamp)
	case len(m.Covered) == 0 && len(m.Absorbed) == 0:
		return fmt.Errorf("%w: stands for nothing", ErrMalformed)
	case m.MidTurn() && (m.Agent == "" || m.Agent == "user"):
		return fmt.Errorf("%w: %s with %s %q", ErrMalformed, fAfter, fAgent, m.Agent)
	case m.CompressionRatio < 0:
		return fmt.Errorf("%w: negative %s", ErrMalformed, fCompressionRatio)
	}
	if _, err := m.Text(); err != nil {
		return err
	}
	return nil
}

// decodeUncut returns the prose that a record keeps besides its own, "" if it has none that can be read: refusing the
// record would show what it hides.
func decodeUncut(object map[string]any) string {
	if text, _ := object[fUncut].(string); strings.TrimSpace(text) != "" {
		return text
	}
	return ""
}
