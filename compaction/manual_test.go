package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

func TestCompactByHandWorksWithoutTriggersAndKeepsTheRecent(t *testing.T) {
	t.Parallel()
	for keep, raw := range map[int]int{0: 4, 1: 2, 3: 6} { // 0 keeps OverlapSize, 2
		t.Run(fmt.Sprintf("keep %d", keep), func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				cfg, oracle := manualOnly()
				svc := newService(t, inner, cfg)
				sess := create(t, svc)
				appendAll(t, svc, sess, turns(8)...)
				if n := len(oracle.Requests()); n != 0 {
					t.Fatalf("%d summaries with every trigger off", n)
				}
				result := compact(t, svc, compaction.CompactOptions{Focus: "the codes", KeepRecent: keep})
				got := records(t, rawEvents(t, svc))
				if len(got) != 1 || result.RecordID != got[0].RecordID || got[0].Trigger != record.TriggerManual || got[0].Focus != "the codes" {
					t.Fatalf("result %+v for records %+v", result, got)
				}
				if oracle.Requests()[0].Focus != "the codes" {
					t.Error("the summarizer was not told the focus")
				}
				view := eventsOf(sess)
				if len(view) != raw+1 || result.BeforeEvents != 16 || result.AfterEvents != raw+1 || result.AfterTokens >= result.BeforeTokens {
					t.Errorf("KeepRecent %d: %d events are shown, result %+v", keep, len(view), result)
				}
				if !strings.Contains(result.Summary, compactiontest.Fact(1)) || result.Skipped {
					t.Errorf("result %+v", result)
				}
				wantFacts(t, view, 8)
				checkView(t, svc)
			})
		})
	}
}

func TestCompactByHandWithNothingToDoSaysWhy(t *testing.T) {
	t.Parallel()
	cfg, oracle := manualOnly()
	svc := newService(t, session.InMemoryService(), cfg)
	sess := create(t, svc)
	for _, events := range [][]*session.Event{nil, turns(2)} {
		appendAll(t, svc, sess, events...)
		result := compact(t, svc, compaction.CompactOptions{})
		if !result.Skipped || result.Reason == "" || result.RecordID != "" || result.BeforeEvents != result.AfterEvents {
			t.Errorf("%d events: %+v", len(events), result)
		}
	}
	if len(oracle.Requests()) != 0 {
		t.Error("the summarizer was asked")
	}
}

func TestCompactByHandReportsItsErrors(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := manualOnly()
		cfg.Summarizer = summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
			return summarizer.Result{}, errBoom
		})
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		appendAll(t, svc, sess, turns(8)...)
		for _, byHand := range []func(ctx context.Context, ref compaction.SessionRef, keep int) error{
			func(ctx context.Context, ref compaction.SessionRef, keep int) error {
				_, err := svc.Compact(ctx, ref, compaction.CompactOptions{KeepRecent: keep})
				return err
			},
			func(ctx context.Context, ref compaction.SessionRef, keep int) error {
				_, err := svc.Checkpoint(ctx, ref, compaction.CheckpointOptions{KeepRecent: keep})
				return err
			},
		} {
			if err := byHand(t.Context(), ref, 1); !errors.Is(err, compaction.ErrCompaction) || !errors.Is(err, errBoom) {
				t.Errorf("failing summarizer: %v", err)
			}
			if err := byHand(t.Context(), ref, -1); err == nil || !strings.Contains(err.Error(), "KeepRecent is -1") {
				t.Errorf("negative KeepRecent: %v", err)
			}
			missing := compaction.SessionRef{AppName: "app", UserID: "user", SessionID: "missing"}
			if err := byHand(t.Context(), missing, 1); !adk.IsNotFound(err) {
				t.Errorf("missing session: %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := byHand(ctx, ref, 1); !errors.Is(err, context.Canceled) {
				t.Errorf("canceled: %v", err)
			}
		}
		if view := eventsOf(sess); len(view) != 16 {
			t.Errorf("the view shows %d of 16 events after failures", len(view))
		}
		if got := status(t, svc); got.Failures != 2 || !errors.Is(got.LastError, errBoom) {
			t.Errorf("status counts %d failures, last %v", got.Failures, got.LastError)
		}
		if err := svc.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{}); !errors.Is(err, compaction.ErrCompaction) {
			t.Errorf("closed: %v", err)
		}
	})
}

func TestCheckpointIsKeptAndFramedAsOne(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, oracle := manualOnly()
		svc := newService(t, inner, cfg)
		sess := create(t, svc)
		appendAll(t, svc, sess, turns(4)...)
		result, err := svc.Checkpoint(t.Context(), ref, compaction.CheckpointOptions{Note: "Item 3 is done."})
		if err != nil || result.Skipped {
			t.Fatalf("%+v, %v", result, err)
		}
		if req := oracle.Requests()[0]; req.Kind != record.KindCheckpoint || req.Note != "Item 3 is done." {
			t.Errorf("the summarizer was asked for a %s with note %q", req.Kind, req.Note)
		}
		m := records(t, rawEvents(t, svc))[0]
		if m.Kind != record.KindCheckpoint || m.Trigger != record.TriggerCheckpoint || m.Note != "Item 3 is done." {
			t.Errorf("record: %+v", m)
		}
		view := eventsOf(sess)
		if len(view) != 3 { // one turn stays raw
			t.Errorf("%d events are shown, want 3", len(view))
		}
		if text := view[0].Content.Parts[0].Text; !strings.HasPrefix(text, "[Checkpoint") || !strings.Contains(text, compactiontest.Fact(3)) {
			t.Errorf("the view begins with %q", text)
		}
		checkView(t, svc)
	})
}

// narrow is an oracle that reads little at a time.
type narrow struct{ compactiontest.Oracle }

func (*narrow) MaxInputTokens() int { return 400 }

// TestWindowLargerThanTheSummarizerReadsIsDoneInSeveral, and the summaries stay within their bound.
func TestWindowLargerThanTheSummarizerReadsIsDoneInSeveral(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 5} {
		t.Run(fmt.Sprintf("at most %d", limit), func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				cfg, _ := manualOnly()
				reader := &narrow{}
				cfg.Summarizer, cfg.MaxSummaries = reader, limit
				svc := newService(t, inner, cfg)
				appendAll(t, svc, create(t, svc), turns(60)...)
				result := compact(t, svc, compaction.CompactOptions{KeepRecent: 1})
				windows, merges := 0, 0
				for _, req := range reader.Requests() {
					if len(req.Events) == 0 {
						merges++
						continue
					}
					windows++
					cost := 0
					for _, ev := range req.Events {
						cost += summarizer.Cost(ev)
					}
					if cost > 400 {
						t.Errorf("the summarizer was given %d tokens, it reads 400", cost)
					}
				}
				if windows < 6 || limit > 1 && merges == 0 {
					t.Errorf("%d windows and %d merges compare too little", windows, merges)
				}
				if got := summariesIn(t, svc); len(got) > limit || len(got)+2 != result.AfterEvents {
					t.Errorf("MaxSummaries %d: %d summaries and %d events are shown", limit, len(got), result.AfterEvents)
				}
				wantFacts(t, eventsOf(get(t, svc)), 60)
				wantCoveredOnce(t, svc)
				checkView(t, svc)
			})
		})
	}
}

// TestCompactByHandKeepsBranchesApart: a summary covers one branch.
func TestCompactByHandKeepsBranchesApart(t *testing.T) {
	t.Parallel()
	cfg, _ := manualOnly()
	svc := newService(t, session.InMemoryService(), cfg)
	h := (&compactiontest.History{}).Turns(5, "agent").Branch("root.sub").Turns(5, "sub")
	for i, ev := range h.Events[10:] {
		ev.InvocationID = "sub-" + ev.InvocationID
		h.Events[10+i] = ev
	}
	appendAll(t, svc, create(t, svc), h.Events...)
	compact(t, svc, compaction.CompactOptions{KeepRecent: 1})
	seen := map[string]bool{}
	for _, m := range records(t, rawEvents(t, svc)) {
		seen[m.Branch] = true
		for _, r := range m.Covered {
			i := slices.IndexFunc(h.Events, func(ev *session.Event) bool { return ev.ID == r.ID })
			if i < 0 || h.Events[i].Branch != m.Branch {
				t.Errorf("a record of branch %q covers %s", m.Branch, r.ID)
			}
		}
	}
	if len(seen) != 2 {
		t.Errorf("records for the branches %v, want both", seen)
	}
	checkView(t, svc)
}

// TestFocusAndNoteAreCleaned: PostgreSQL refuses a record with a NUL in its text.
func TestFocusAndNoteAreCleaned(t *testing.T) {
	t.Parallel()
	const dirty, clean = "the\x00 bill\x1b[31m\nand \xffmore", "the bill[31m\nand \uFFFDmore"
	cfg, oracle := manualOnly()
	svc := newService(t, session.InMemoryService(), cfg)
	appendAll(t, svc, create(t, svc), turns(12)...)
	compact(t, svc, compaction.CompactOptions{Focus: dirty, KeepRecent: 6})
	if _, err := svc.Checkpoint(t.Context(), ref, compaction.CheckpointOptions{Note: dirty}); err != nil {
		t.Fatal(err)
	}
	stored := records(t, rawEvents(t, svc))
	if len(stored) != 2 || stored[0].Focus != clean || stored[1].Note != clean {
		t.Errorf("records %+v, want focus and note %q", stored, clean)
	}
	if asked := oracle.Requests(); asked[0].Focus != clean || asked[1].Note != clean {
		t.Errorf("the summarizer was given %q and %q, want %q", asked[0].Focus, asked[1].Note, clean)
	}
}

// A view never grows by a compaction: the frame of a summary counts, also where all that was said is short, and so
// do the values behind it. Without values, the record has the numbers of the view.
func TestCompactOverShortEventsShrinksTheViewOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]compaction.Summarizer{"oracle": &compactiontest.Oracle{}, "extractive": summarizer.Extractive{}} {
		for _, ledger := range []int{0, compaction.Off} {
			for _, n := range []int{2, 4, 6, 8, 12, 20, 40} {
				cfg, _ := oracleConfig()
				cfg.Summarizer, cfg.InvocationThreshold, cfg.MaxLedgerTokens, cfg.MaxUserTokens = write, compaction.Off, ledger, ledger
				svc := newService(t, session.InMemoryService(), cfg)
				var h compactiontest.History
				for i := range n / 2 {
					h.Turn(fmt.Sprint("inv", i), "agent", "Two words.", "Two more.")
				}
				appendAll(t, svc, create(t, svc), h.Events...)
				got, err := svc.Compact(t.Context(), ref, compaction.CompactOptions{KeepRecent: 1})
				if err != nil {
					t.Fatal(err)
				}
				if got.Skipped != (got.Reason != "") || !got.Skipped && got.AfterTokens >= got.BeforeTokens || got.Skipped && got.AfterTokens != got.BeforeTokens {
					t.Errorf("%s, %d events: %+v", name, n, got)
				}
				if n == 40 && got.Skipped {
					t.Errorf("%s: 40 events are not summarized: %s", name, got.Reason)
				}
				for _, m := range records(t, rawEvents(t, svc)) {
					if ledger == compaction.Off && m.OriginalTokens-m.CompactedTokens != got.BeforeTokens-got.AfterTokens {
						t.Errorf("%s, %d events: the record says that %d tokens became %d, and the view shrank from %d to %d",
							name, n, m.OriginalTokens, m.CompactedTokens, got.BeforeTokens, got.AfterTokens)
					}
				}
			}
		}
	}
}

func TestACompactionNamesItsStrategies(t *testing.T) {
	t.Parallel()
	long := summarizerFunc(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		var text strings.Builder // shorter than the window, and longer than there is room for
		for i := range 220 {
			fmt.Fprintf(&text, "In room %d the clerk found the code %s behind shelf %d.\n", i, compactiontest.Fact(i), 7*i)
		}
		return prose(text.String()), nil
	})
	for name, row := range map[string]struct {
		change func(*compaction.Config)
		turns  int
		words  int
		want   []string
	}{
		"a window": {func(*compaction.Config) {}, 4, 1_000, []string{compaction.StrategySummarized}},
		"nothing":  {func(*compaction.Config) {}, 1, 1_000, nil},
		"a summary without end": {func(c *compaction.Config) {
			c.Summarizer, c.ContextWindow, c.MaxOutputTokens = long, 4_000, compaction.Off
		}, 4, 1_000, []string{compaction.StrategySummarized, compaction.StrategyTruncated}},
		"several windows at once": {func(c *compaction.Config) { c.Summarizer = &narrow{} }, 8, 100, []string{compaction.StrategySummarized}},
	} {
		cfg, _ := manualOnly()
		row.change(&cfg)
		svc := newService(t, session.InMemoryService(), cfg)
		var h compactiontest.History
		for i := range row.turns {
			h.Turn(fmt.Sprint("inv", i), "agent", words(row.words), words(row.words))
		}
		appendAll(t, svc, create(t, svc), h.Events...)
		got := compact(t, svc, compaction.CompactOptions{KeepRecent: 1})
		if !slices.Equal(got.StrategiesRun, row.want) || got.Skipped != (row.want == nil) || got.Skipped && got.StrategiesRun != nil {
			t.Errorf("%s: ran %q, skipped %t (%s); want %q", name, got.StrategiesRun, got.Skipped, got.Reason, row.want)
		}
	}
}
