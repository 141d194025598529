package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// ErrMalformed marks a value under [Key] that is not a record of this version.
var ErrMalformed = errors.New("malformed compaction record")

// Is reports whether ev is bookkeeping: it carries [Key] and says nothing itself. A record that the
// wrapper wrote never has content, so an event that talks is conversation whatever its metadata
// claims, and the claim is ignored.
func Is(ev *session.Event) bool {
	if ev == nil {
		return false
	}
	if _, ok := ev.CustomMetadata[Key]; !ok {
		return false
	}
	return (ev.Content == nil || len(ev.Content.Parts) == 0) &&
		ev.InputTranscription == nil && ev.OutputTranscription == nil
}

// From returns the record that ev carries. It returns nil, nil for an event that is not bookkeeping
// and an error wrapping [ErrMalformed] for bookkeeping that cannot be read.
func From(ev *session.Event) (*Metadata, error) {
	if !Is(ev) {
		return nil, nil
	}
	return Decode(ev.CustomMetadata[Key])
}

// Decode reads a stored record. The value may be the map that [Encode] returns, that map after a
// trip through any of ADK's session services, or its JSON in a string. It never panics and never
// keeps a reference to the value. Errors wrap [ErrMalformed].
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
		After:                d.ref(fAfter),
		Agent:                d.text(fAgent, optional),
		Trigger:              Trigger(d.text(fTrigger, optional)),
		Focus:                d.text(fFocus, optional),
		Note:                 d.text(fNote, optional),
		Model:                d.text(fModel, optional),
		Usage:                d.usage(fUsage),
	}
	if d.err != nil {
		return nil, d.err
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// validate refuses what has the right shape but could hide something behind nothing.
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
	case m.Live() && m.Agent == "":
		return fmt.Errorf("%w: %s without %s", ErrMalformed, fAfter, fAgent)
	}
	if _, err := m.Text(); err != nil {
		return err
	}
	return nil
}

// Text returns the summary's prose: the text of all parts that are not thoughts, joined by
// newlines. A record whose content holds none is malformed.
func (m *Metadata) Text() (string, error) {
	var content struct {
		Parts []*struct {
			Text    string `json:"text"`
			Thought bool   `json:"thought"`
		} `json:"parts"`
	}
	if err := json.Unmarshal([]byte(m.CompactedContentJSON), &content); err != nil {
		return "", fmt.Errorf("%w: %s: %v", ErrMalformed, fContent, err)
	}
	var texts []string
	for _, part := range content.Parts {
		if part != nil && !part.Thought && strings.TrimSpace(part.Text) != "" {
			texts = append(texts, part.Text)
		}
	}
	if len(texts) == 0 {
		return "", fmt.Errorf("%w: %s holds no text", ErrMalformed, fContent)
	}
	return strings.Join(texts, "\n"), nil
}

// SetText stores prose as the record's content, with role "model".
func (m *Metadata) SetText(prose string) error {
	data, err := json.Marshal(genai.NewContentFromText(prose, genai.RoleModel))
	if err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	m.CompactedContentJSON = string(data)
	return nil
}

type need bool

const (
	required need = true
	optional need = false
)

// decoder reads fields of one object and keeps the first error.
type decoder struct {
	object map[string]any
	err    error
}

func (d *decoder) fail(field, want string, got any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s: want %s, got %T", ErrMalformed, field, want, got)
	}
}

func (d *decoder) text(field string, n need) string {
	value, ok := d.object[field]
	if !ok && n == optional {
		return ""
	}
	text, ok := value.(string)
	if !ok {
		d.fail(field, "a string", value)
	}
	return text
}

func (d *decoder) number(field string, n need) float64 {
	value, ok := d.object[field]
	if !ok && n == optional {
		return 0
	}
	switch v := value.(type) {
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	d.fail(field, "a number", value)
	return 0
}

// integer accepts whole numbers from 0 up to 2^53, the range that float64 keeps exactly.
func (d *decoder) integer(field string, n need) int {
	v := d.number(field, n)
	if v != math.Trunc(v) || v < 0 || v > 1<<53 {
		d.fail(field, "a whole number from 0", v)
		return 0
	}
	return int(v)
}

func (d *decoder) time(field string, n need) time.Time {
	text := d.text(field, n)
	if text == "" && n == optional {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		d.fail(field, "an RFC 3339 time", d.object[field])
	}
	return t
}

func (d *decoder) list(field string) []any {
	value, ok := d.object[field]
	if !ok || value == nil {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		d.fail(field, "a list", value)
	}
	return list
}

func (d *decoder) texts(field string) []string {
	list := d.list(field)
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, value := range list {
		text, ok := value.(string)
		if !ok || text == "" {
			d.fail(field, "a list of record IDs", value)
		}
		out[i] = text
	}
	return out
}

func (d *decoder) refs(field string) []Ref {
	list := d.list(field)
	if len(list) == 0 {
		return nil
	}
	out := make([]Ref, len(list))
	for i, value := range list {
		out[i] = d.asRef(field, value)
	}
	return out
}

func (d *decoder) ref(field string) Ref {
	value, ok := d.object[field]
	if !ok {
		return Ref{}
	}
	return d.asRef(field, value)
}

func (d *decoder) asRef(field string, value any) Ref {
	object, ok := value.(map[string]any)
	if !ok {
		d.fail(field, "an event reference", value)
		return Ref{}
	}
	in := decoder{object: object}
	ref := Ref{
		ID:           in.text(fRefID, optional),
		InvocationID: in.text(fRefInvocationID, optional),
		Timestamp:    in.time(fRefTimestamp, optional),
		Author:       in.text(fRefAuthor, optional),
	}
	if in.err != nil && d.err == nil {
		d.err = in.err
	}
	return ref
}

func (d *decoder) usage(field string) Usage {
	value, ok := d.object[field]
	if !ok {
		return Usage{}
	}
	object, ok := value.(map[string]any)
	if !ok {
		d.fail(field, "an object", value)
		return Usage{}
	}
	in := decoder{object: object}
	usage := Usage{PromptTokens: in.integer(fPromptTokens, optional), OutputTokens: in.integer(fOutputTokens, optional)}
	if in.err != nil && d.err == nil {
		d.err = in.err
	}
	return usage
}
