package compaction

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/record"
)

// Activity counts what was ever written for a session: every readable record in storage, including those that
// a later record has absorbed. The zero value is a session that was never compacted.
type Activity struct {
	// Compactions counts summaries of the conversation, and Checkpoints the reports on finished tasks.
	// Merges counts summaries that replace other summaries only, to make room or to be shorter.
	Compactions, Checkpoints, Merges int
	// LastCompaction and LastCheckpoint are when the newest were made; zero if there is none.
	LastCompaction, LastCheckpoint time.Time
	// Focus is that of the newest compaction, and Note that of the newest checkpoint, "" for none.
	Focus, Note string
	// Characters is the length of all of these texts, merges included, without the frames that the view
	// adds.
	Characters int
}

// ActivityIn counts the records among stored events, such as those of
// [CompactionSessionService.Raw], in any order. Other events are skipped, and so are records that
// cannot be read. A record that was stored twice counts once.
func ActivityIn(events iter.Seq[*session.Event]) Activity {
	var a Activity
	var compaction, checkpoint *record.Metadata // the newest
	seen := map[string]bool{}
	for ev := range events {
		m, err := record.From(ev)
		if err != nil || m == nil || seen[m.RecordID] {
			continue
		}
		seen[m.RecordID] = true
		if prose, err := m.Text(); err == nil {
			a.Characters += utf8.RuneCountInString(prose)
		}
		switch {
		case m.Kind == record.KindCheckpoint:
			a.Checkpoints++
			if checkpoint == nil || m.Later(checkpoint) {
				checkpoint = m
			}
		case m.Trigger == record.TriggerMerge:
			a.Merges++
		default:
			a.Compactions++
			if compaction == nil || m.Later(compaction) {
				compaction = m
			}
		}
	}
	if compaction != nil {
		a.LastCompaction, a.Focus = compaction.CreatedAt, compaction.Focus
	}
	if checkpoint != nil {
		a.LastCheckpoint, a.Note = checkpoint.CreatedAt, checkpoint.Note
	}
	return a
}

// activity counts the records of a session that was loaded into a handle. If the inner service has left
// some in storage, it is asked for them.
func activity(ctx context.Context, all *sessions.Sessions, inner session.Service, h *sessions.Handle) (Activity, error) {
	if h.Unloaded() == 0 {
		return ActivityIn(slices.Values(h.View.Raw())), nil
	}
	if reader, ok := inner.(RecordReader); ok {
		events, err := reader.Records(ctx, h.State.Ref.Request())
		if err != nil {
			return Activity{}, fmt.Errorf("read the records of session %q: %w", h.State.Ref.SessionID, err)
		}
		return ActivityIn(slices.Values(events)), nil
	}
	resp, err := all.Read(ctx, h.State.Ref.Request())
	if err != nil {
		return Activity{}, err
	}
	return ActivityIn(resp.Session.Events().All()), nil
}
