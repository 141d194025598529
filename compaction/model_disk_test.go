package compaction_test

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// disk is the inner service as one process sees it: it remembers what it gave out last and which
// records the process stored, and it can fail to store them.
type disk struct {
	session.Service
	// stored are the records that the process stored, in order.
	stored []*session.Event
	// read are the events of the session read last.
	read []*session.Event
	// broken fails every store of a record; lies fails that many of them after they are stored.
	broken bool
	lies   int
	failed int
}

func (d *disk) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	resp, err := d.Service.Get(ctx, req)
	if err == nil {
		d.read = eventsOf(resp.Session)
	}
	return resp, err
}

func (d *disk) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	isRecord := compaction.IsCompactionEvent(ev)
	if isRecord && d.broken {
		d.failed++
		return errBoom
	}
	if err := d.Service.AppendEvent(ctx, sess, ev); err != nil {
		return err
	}
	if !isRecord {
		return nil
	}
	d.stored = append(d.stored, ev)
	if d.lies > 0 {
		d.lies--
		d.failed++
		return errBoom
	}
	return nil
}

// process is one wrapped service over the storage that all processes share.
type process struct {
	svc  *compaction.CompactionSessionService
	disk *disk
}

// handle is an open session, and what is known of its history without asking it.
type handle struct {
	sess session.Session
	by   *process
	// raw are the events read at first and appended since; records of the process follow from there.
	raw   []*session.Event
	known int
	// version is that of the storage when the handle last read or wrote.
	version int
	// shown is the view that was compared last, of a history of so many events.
	shown    []*session.Event
	compared int
}

func open(sess session.Session, by *process, version int) *handle {
	return &handle{sess: sess, by: by, raw: slices.Clone(by.disk.read), known: len(by.disk.stored), version: version}
}

// history is what the handle's view must be made from: what it has read and written, and every record
// that its process has stored since.
func (h *handle) history() []*session.Event {
	return slices.Concat(h.raw, h.by.disk.stored[h.known:])
}

// view is what the handle shows, with the events of its history where it shows the same.
func (h *handle) view() []*session.Event {
	view := eventsOf(h.sess)
	for i, ev := range view {
		for _, known := range h.raw {
			if known.ID == ev.ID && known.Timestamp.Equal(ev.Timestamp) && known.Author == ev.Author {
				view[i] = known
			}
		}
	}
	return view
}

func isStale(err error) bool { return err != nil && strings.Contains(err.Error(), "stale session") }
