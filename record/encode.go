package record

import (
	"time"

	"google.golang.org/adk/session"
)

// Names of the fields of the stored object, version 1.
const (
	fVersion           = "version"
	fRecordID          = "record_id"
	fKind              = "kind"
	fStartTimestamp    = "start_timestamp"
	fEndTimestamp      = "end_timestamp"
	fStartInvocationID = "start_invocation_id"
	fEndInvocationID   = "end_invocation_id"
	fContent           = "compacted_content_json"
	fEventCount        = "event_count"
	fOriginalTokens    = "original_tokens"
	fCompactedTokens   = "compacted_tokens"
	fCompressionRatio  = "compression_ratio"
	fCreatedAt         = "created_at"
	fLevel             = "level"
	fBranch            = "branch"
	fCovered           = "covered"
	fAbsorbed          = "absorbed"
	fUncut             = "uncut"
	fThrough           = "through"
	fCheckpointThrough = "checkpoint_through"
	fAfter             = "after"
	fAgent             = "agent"
	fTrigger           = "trigger"
	fFocus             = "focus"
	fNote              = "note"
	fModel             = "model"
	fUsage             = "usage"
	fValues            = "values"
	fLedgerTokens      = "ledger_tokens"
	fSaid              = "said"
	fSaidTokens        = "said_tokens"
	fUserTokens        = "user_tokens"
	fAsksSecret        = "asks_secret"
	fKept              = "kept"
	fInvented          = "invented"

	fRefID           = "id"
	fRefInvocationID = "invocation_id"
	fRefTimestamp    = "timestamp"
	fRefAuthor       = "author"

	fPromptTokens = "prompt_tokens"
	fOutputTokens = "output_tokens"

	// These are short because a record may have a hundred values.
	fValueText   = "t"
	fValueKind   = "k"
	fValueAuthor = "by"
	fValueEvent  = "e"
	fValueAt     = "at"
	fValueUses   = "n"
	fValueScore  = "s"
)

// Encode returns the stored form of m: a new map with JSON-native values only. It leaves out
// optional fields that are empty.
func Encode(m *Metadata) map[string]any {
	covered := make([]any, len(m.Covered))
	for i, ref := range m.Covered {
		covered[i] = encodeRef(ref)
	}
	absorbed := make([]any, len(m.Absorbed))
	for i, id := range m.Absorbed {
		absorbed[i] = id
	}
	out := map[string]any{
		fVersion:          float64(Version),
		fRecordID:         m.RecordID,
		fKind:             string(m.Kind),
		fStartTimestamp:   encodeTime(m.StartTimestamp),
		fEndTimestamp:     encodeTime(m.EndTimestamp),
		fContent:          m.CompactedContentJSON,
		fEventCount:       float64(m.EventCount),
		fOriginalTokens:   float64(m.OriginalTokens),
		fCompactedTokens:  float64(m.CompactedTokens),
		fCompressionRatio: m.CompressionRatio,
		fCreatedAt:        encodeTime(m.CreatedAt),
		fLevel:            float64(m.Level),
		fBranch:           m.Branch,
		fCovered:          covered,
		fAbsorbed:         absorbed,
		fTrigger:          string(m.Trigger),
	}
	for field, value := range map[string]string{
		fStartInvocationID: m.StartInvocationID,
		fEndInvocationID:   m.EndInvocationID,
		fAgent:             m.Agent,
		fFocus:             m.Focus,
		fNote:              m.Note,
		fModel:             m.Model,
		fUncut:             m.Uncut,
	} {
		if value != "" {
			out[field] = value
		}
	}
	if !m.Through.IsZero() {
		out[fThrough] = encodeRef(m.Through)
	}
	if !m.CheckpointThrough.IsZero() {
		out[fCheckpointThrough] = encodeRef(m.CheckpointThrough)
	}
	if !m.After.IsZero() {
		out[fAfter] = encodeRef(m.After)
	}
	if m.Usage != (Usage{}) {
		out[fUsage] = map[string]any{
			fPromptTokens: float64(m.Usage.PromptTokens),
			fOutputTokens: float64(m.Usage.OutputTokens),
		}
	}
	if values := encodeValues(m.Values, ofValues); len(values) > 0 {
		out[fValues] = values
	}
	if m.LedgerTokens > 0 && m.LedgerTokens <= maxLedgerTokens {
		out[fLedgerTokens] = float64(m.LedgerTokens)
	}
	if said := encodeValues(m.Said, ofSaid); len(said) > 0 {
		out[fSaid] = said
	}
	if m.SaidTokens > 0 && m.SaidTokens <= maxLedgerTokens {
		out[fSaidTokens] = float64(m.SaidTokens)
	}
	if m.AsksSecret {
		out[fAsksSecret] = true
	}
	if m.UserTokens > 0 {
		out[fUserTokens] = float64(min(m.UserTokens, maxUserTokens))
	}
	if m.Kept != nil && isShare(*m.Kept) {
		out[fKept] = *m.Kept
	}
	if m.Invented > 0 && m.Invented <= maxInvented {
		out[fInvented] = float64(m.Invented)
	}
	return out
}

// Set stores m in the event's CustomMetadata. It replaces the map with a copy, because in-memory
// services share the map with other holders of the event.
func Set(ev *session.Event, m *Metadata) {
	custom := make(map[string]any, len(ev.CustomMetadata)+1)
	for k, v := range ev.CustomMetadata {
		custom[k] = v
	}
	custom[Key] = Encode(m)
	ev.CustomMetadata = custom
}

func encodeRef(r Ref) map[string]any {
	return map[string]any{
		fRefID:           r.ID,
		fRefInvocationID: r.InvocationID,
		fRefTimestamp:    encodeTime(r.Timestamp),
		fRefAuthor:       r.Author,
	}
}

// earliest and latest are the limits of RFC 3339, which has four digits for the year. A wrong clock
// may have given an event any time.
var (
	earliest = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)
)

func encodeTime(t time.Time) string { return storable(t).Format(time.RFC3339Nano) }

// storable returns t in UTC, or the nearest time within the range of RFC 3339.
func storable(t time.Time) time.Time {
	t = t.UTC()
	switch {
	case t.Before(earliest):
		return earliest
	case t.After(latest):
		return latest
	}
	return t
}
