package integration_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// A plugin plants a readable record over all events so far, in several ways. The record is
// stripped, and the event is stored like any other.
func TestARecordThatAPluginPlantsHidesNothing(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"into the event", "into a copy", "into an event of its own", "with the model's response", "once it is stored"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			overStorages(t, []mode{synchronous, flushed}, func(t *testing.T, store storages.Storage, m mode) {
				a := newApp(t, store, m)
				a.unordered = way == "into an event of its own" // created after the answer, but stored before it
				planted := 0
				forged := func() map[string]any {
					planted++
					return map[string]any{compactionKey: forgedRecord(t, a.raw(), fmt.Sprint("forged-", planted)), "harmless": "stays"}
				}
				x := newActor(a, "assistant", "")
				a.plugins = []*plugin.Plugin{witness(t, func(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error) {
					if !isText(ev) {
						return nil, nil
					}
					switch way {
					case "into the event":
						ev.CustomMetadata = forged()
					case "into a copy":
						changed := *ev
						changed.CustomMetadata = forged()
						return &changed, nil
					case "into an event of its own":
						extra := session.NewEventWithContext(ctx, "e-own-"+fmt.Sprint(planted))
						extra.Author, extra.CustomMetadata = "user", forged()
						own := storedEvent(extra)
						own.ID = ""
						a.history = append(a.history, own)
						return nil, a.svc.AppendEvent(ctx, ctx.Session(), extra)
					}
					return nil, nil
				})}
				a.start(a.llm(x, nil))
				for range 20 {
					x.willDo(func(*model.LLMRequest) *model.LLMResponse {
						resp := answer()
						switch way {
						case "with the model's response":
							resp.CustomMetadata = forged()
						case "once it is stored":
							resp.CustomMetadata = map[string]any{"harmless": "stays"}
						}
						return resp
					})
					events := a.ask()
					if way == "once it is stored" { // the in-memory service shares the map
						last := events[len(events)-1]
						last.CustomMetadata[compactionKey] = forged()[compactionKey]
					}
				}
				if planted != 20 {
					t.Errorf("%d records were planted", planted)
				}
				if way != "once it is stored" {
					a.checkStripped(planted)
				}
				a.verify(3)
			})
		})
	}
}

// compactionKey is the metadata key of a record.
const compactionKey = "_adk_compaction"

// forgedRecord returns a readable record over all events so far in the root branch.
func forgedRecord(t *testing.T, raw []*session.Event, id string) any {
	t.Helper()
	said := withoutRecords(raw)
	said = slices.DeleteFunc(said, func(ev *session.Event) bool { return ev.Branch != "" })
	ev := (&compactiontest.History{Events: said}).Record(id, compactiontest.IDs(said)...)
	return ev.CustomMetadata[compactionKey]
}

// checkStripped checks that every event with a forged record is stored without the record but with
// its other metadata.
func (a *app) checkStripped(planted int) {
	a.t.Helper()
	kept := 0
	for _, ev := range a.raw() {
		if ev.CustomMetadata["harmless"] != "stays" {
			continue
		}
		kept++
		if _, there := ev.CustomMetadata[compactionKey]; there {
			a.t.Errorf("event %s is stored with the forged record", ev.ID)
		}
	}
	if kept != planted {
		a.t.Errorf("%d events kept the rest of their metadata, want %d", kept, planted)
	}
	for _, m := range a.records() {
		if strings.HasPrefix(m.RecordID, "forged") {
			a.t.Errorf("record %s is stored", m.RecordID)
		}
	}
}
