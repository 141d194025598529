package compaction_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/summarizer"
)

// adkCompaction are the settings of ADK's own compaction: compaction.Config in ADK Go v2.3, EventsCompactionConfig in
// adk-python.
type adkCompaction struct {
	CompactionInterval, OverlapSize, TokenThreshold, EventRetentionSize int

	Summarizer func(context.Context, []*session.Event) (*genai.Content, error)
}

// ours are the five fields that docs/adk-compaction.md puts in their place. Nothing else is set.
func (c adkCompaction) ours() compaction.Config {
	off := func(n int) int {
		if n == 0 {
			return compaction.Off
		}
		return n
	}
	return compaction.Config{
		InvocationThreshold: off(c.CompactionInterval),
		OverlapSize:         max(1, c.OverlapSize),
		TokenThreshold:      off(c.TokenThreshold),
		RetainEvents:        c.EventRetentionSize,
		Summarizer: summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
			content, err := c.Summarizer(ctx, req.Events)
			return summarizer.Result{Content: content}, err
		}),
	}
}

// play appends turns through a service with our settings, waits for each compaction, and calls after behind each turn.
func (c adkCompaction) play(t *testing.T, turns int, after func(turn int, before compaction.Status, svc *compaction.CompactionSessionService)) (windows []string) {
	t.Helper()
	c.Summarizer = func(_ context.Context, events []*session.Event) (*genai.Content, error) {
		windows = append(windows, events[0].ID+"-"+events[len(events)-1].ID)
		return genai.NewContentFromText("They talked about parcels.", genai.RoleModel), nil
	}
	svc := newService(t, session.InMemoryService(), c.ours())
	sess := create(t, svc)
	h := &compactiontest.History{}
	for n := range turns {
		before := status(t, svc)
		h.Turn(fmt.Sprint("i", n+1), "agent", fmt.Sprint("Where is parcel ", n, "? ", strings.Repeat("It is late. ", 60)), strings.Repeat("It is on its way. ", 60))
		appendAll(t, svc, sess, h.Events[2*n:]...)
		flush(t, svc)
		after(n+1, before, svc)
	}
	return windows
}

// CompactionInterval and OverlapSize: after as many new turns there is one more summary. The last turns of the one before
// are in its window as well. Here these turns were word for word until then, where ADK repeats them.
func TestTheTwoSettingsOfASlidingWindowMeanTheSame(t *testing.T) {
	t.Parallel()
	var at []int
	windows := adkCompaction{CompactionInterval: 3, OverlapSize: 1}.play(t, 12, func(turn int, before compaction.Status, svc *compaction.CompactionSessionService) {
		now := status(t, svc)
		if len(now.Summaries) > len(before.Summaries) {
			at = append(at, turn)
		}
		if shown := eventsOf(get(t, svc)); shown[len(shown)-1].ID != fmt.Sprint("e", 2*turn) || shown[len(shown)-2].ID != fmt.Sprint("e", 2*turn-1) {
			t.Errorf("after turn %d it is not word for word", turn)
		}
	})
	if want := []int{3, 6, 9, 12}; !slices.Equal(at, want) {
		t.Errorf("summaries after the turns %v, want %v", at, want)
	}
	if want := []string{"e1-e4", "e5-e10", "e11-e16", "e17-e22"}; !slices.Equal(windows, want) {
		t.Errorf("the windows are %v, want %v", windows, want)
	}
}

// TokenThreshold and EventRetentionSize: when a prompt has so many tokens, all is summarized but the newest events.
func TestTheTwoSettingsOfTailRetentionMeanTheSame(t *testing.T) {
	t.Parallel()
	const threshold, retained = 6_000, 4
	fired := 0
	adkCompaction{TokenThreshold: threshold, EventRetentionSize: retained}.play(t, 40, func(turn int, before compaction.Status, svc *compaction.CompactionSessionService) {
		now := status(t, svc)
		if now.TokenThreshold != threshold || now.PromptTokens >= threshold {
			t.Errorf("after turn %d the prompt has %d tokens, over a threshold of %d", turn, now.PromptTokens, now.TokenThreshold)
		}
		if now.PromptTokens > before.PromptTokens {
			return
		}
		fired++
		if before.PromptTokens < threshold*3/4 {
			t.Errorf("after turn %d it fired, behind a prompt of %d tokens", turn, before.PromptTokens)
		}
		raw := 0
		for _, ev := range eventsOf(get(t, svc)) {
			if strings.HasPrefix(ev.ID, "e") {
				raw++
			}
		}
		if raw != retained {
			t.Errorf("after turn %d, %d events are word for word, want %d", turn, raw, retained)
		}
	})
	if fired < 3 {
		t.Errorf("it fired %d times", fired)
	}
}
