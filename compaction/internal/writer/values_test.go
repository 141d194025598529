package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/internal/hanging"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

const short = "Several people talked about many different orders and when each of these might perhaps be delivered to them."

// about returns n events about one order each, from a number on.
func about(from, n int) []*session.Event {
	var out []*session.Event
	for i := range n {
		out = append(out, &session.Event{ID: fmt.Sprint("e", from+i), Author: "user", LLMResponse: model.LLMResponse{
			Content: genai.NewContentFromText(fmt.Sprintf("Please tell me where my order ORD-%d is, since it was to be here days ago.", 5000+from+i), genai.RoleUser),
		}})
	}
	return out
}

// assigned returns an assignment over events and records.
func assigned(v *Values, most int, events []*session.Event, absorbed, current []*record.Metadata) Assignment {
	window := selector.Selection{Events: events, Absorb: absorbed}
	for _, ev := range events {
		window.Tokens += promptsize.OfEvent(ev)
	}
	for _, m := range absorbed {
		window.Tokens += promptsize.OfSummary(m)
	}
	return Assignment{Window: window, Rewrites: len(events) == 0, SummaryTokens: 500, Room: 5000, Timeout: time.Minute, Ledger: Ledger{
		Values: v, MaxTokens: most, Current: current,
		Size: func(records []*record.Metadata) int { return promptsize.OfAddition(view.Options{}, records) },
	}}
}

func written(t *testing.T, a Assignment, text string) *Draft {
	t.Helper()
	by := summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{Content: genai.NewContentFromText(text, genai.RoleModel)}, nil
	})
	d, _, err := Write(t.Context(), by, a, &learned.Attempts{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func valuesOf(m *record.Metadata) string {
	var out []string
	for _, v := range m.Values {
		out = append(out, v.Text)
	}
	return strings.Join(out, " | ")
}

func TestABusyMachineLosesNoValues(t *testing.T) {
	t.Parallel()
	v := NewValues(nil, nil)
	v.within = time.Nanosecond
	d := written(t, assigned(v, 600, about(0, 20), nil, nil), short)
	if d.ValuesLost != nil || !strings.Contains(valuesOf(d.Meta), "ORD-5007") {
		t.Errorf("the values are %s, lost because of %v", valuesOf(d.Meta), d.ValuesLost)
	}
}

// A turn whose user leaves, or whose time is up, while texts go through the app's function, says nothing of that function:
// the record is stored with a later append, and its values are never taken again.
func TestACallerWhoLeavesLosesNoValues(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	v := NewValues(func(text string) string {
		leave()
		time.Sleep(5 * time.Millisecond) // code that waits for the context sees that it has ended
		return text
	}, nil)
	v.within = time.Minute
	found, err := v.of(ctx, about(0, 20), nil, &Ledger{MaxTokens: 600}, false)
	if err != nil || len(found.values) == 0 {
		t.Errorf("%d values, lost because of %v", len(found.values), err)
	}
}

// A function of the app that does not return costs the values of its window and of the next ones, and no summary.
func TestARedactThatDoesNotReturnHarmsNoSummary(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	v := NewValues(func(text string) string {
		<-release
		return text
	}, nil)
	v.within = time.Millisecond
	for range 2 {
		d := written(t, assigned(v, 600, about(0, 20), nil, nil), short)
		if len(d.Meta.Values) > 0 || !errors.Is(d.ValuesLost, hanging.Err) || d.Text != short {
			t.Fatalf("%d values, lost because of %v", len(d.Meta.Values), d.ValuesLost)
		}
	}
	close(release)
	v.within = time.Minute
	for { // until the first call has returned
		d := written(t, assigned(v, 600, about(0, 20), nil, nil), short)
		if d.ValuesLost == nil {
			if !strings.Contains(valuesOf(d.Meta), "ORD-5007") {
				t.Errorf("the values are %s", valuesOf(d.Meta))
			}
			return
		}
	}
}

// A list may use half of what the summary frees. If the window is small, fewer values are shown, and all are kept.
func TestValuesUseHalfOfWhatASummaryFrees(t *testing.T) {
	t.Parallel()
	for _, n := range []int{4, 6, 8, 12, 20, 60} {
		d := written(t, assigned(NewValues(nil, nil), 600, about(0, n), nil, nil), short)
		free := d.Tokens - d.Meta.CompactedTokens
		if free <= 0 {
			t.Fatalf("%d events: the summary is not shorter, and the test shows nothing", n)
		}
		size := promptsize.OfAddition(view.Options{}, []*record.Metadata{d.Meta})
		if d.Growth != size || d.Growth > free/2 || d.Meta.LedgerTokens > 600 {
			t.Errorf("%d events: the list has %d tokens, counted as %d, of %d that are free", n, size, d.Growth, free)
		}
		for _, order := range []string{"ORD-5000", fmt.Sprintf("ORD-%d", 5000+n-1)} {
			if !strings.Contains(valuesOf(d.Meta), order) {
				t.Errorf("%d events: %s is not stored: %s", n, order, valuesOf(d.Meta))
			}
		}
		if n == 60 && d.Growth < 200 {
			t.Errorf("60 events: the list has %d tokens only", d.Growth)
		}
	}
}

// The values of absorbed records go to the record that absorbs them, also where no model is asked.
func TestARecordTakesOverTheValuesOfThoseItAbsorbs(t *testing.T) {
	t.Parallel()
	v := NewValues(nil, nil)
	first := written(t, assigned(v, 600, about(0, 20), nil, nil), short).Meta
	second := written(t, assigned(v, 600, about(20, 20), nil, []*record.Metadata{first}), short).Meta
	second.StartTimestamp, second.EndTimestamp = second.StartTimestamp.Add(time.Second), second.EndTimestamp.Add(time.Second)
	shown := []*record.Metadata{first, second}
	extractive := assigned(v, 600, nil, shown, shown)
	extractive.Extractive = true
	for name, a := range map[string]Assignment{
		"a merge":         assigned(v, 600, nil, shown, shown),
		"a rolling one":   assigned(v, 600, about(40, 20), shown, shown),
		"without a model": extractive,
	} {
		d := written(t, a, short)
		for _, order := range []string{"ORD-5000", "ORD-5019", "ORD-5020", "ORD-5039"} {
			if !strings.Contains(valuesOf(d.Meta), order) {
				t.Errorf("%s: %s is lost: %s", name, order, valuesOf(d.Meta))
			}
		}
		if d.Meta.CompactedTokens+d.Growth >= d.Tokens {
			t.Errorf("%s: %d tokens and %d for values replace %d", name, d.Meta.CompactedTokens, d.Growth, d.Tokens)
		}
	}
	off := written(t, assigned(v, 0, about(40, 20), shown, shown), short).Meta
	if len(off.Values) > 0 || off.LedgerTokens != 0 {
		t.Errorf("turned off, a record has %d values, and shows %d tokens", len(off.Values), off.LedgerTokens)
	}
}

// Over the hard limit, the list shrinks with the summary, and its values are kept.
func TestTheListShrinksWithItsSummary(t *testing.T) {
	t.Parallel()
	v := NewValues(nil, nil)
	first := written(t, assigned(v, 600, about(0, 60), nil, nil), strings.Repeat(short+" ", 8)).Meta
	a := assigned(v, 600, nil, []*record.Metadata{first}, []*record.Metadata{first})
	a.Shorter, a.Extractive = 64, true
	d := written(t, a, "")
	if d.Meta.LedgerTokens > 64 || d.Growth > -100 || len(d.Meta.Values) != len(first.Values) {
		t.Errorf("the list may have %d tokens, changed by %d, with %d values of %d", d.Meta.LedgerTokens, d.Growth, len(d.Meta.Values), len(first.Values))
	}
}

// The app's function and odd names may bring in what storage refuses.
func TestValuesAreCleanAndNameTheirEvents(t *testing.T) {
	t.Parallel()
	events := about(0, 20)
	events[3].ID, events[3].Author = "e\xff3", "us\xffer"
	v := NewValues(func(text string) string { return strings.ReplaceAll(text, "ORD-5003", "ORD-\x00\x1b9999\xff") }, nil)
	d := written(t, assigned(v, 600, events, nil, nil), short)
	i := slices.IndexFunc(d.Meta.Values, func(v record.Value) bool { return v.Event == d.Meta.Covered[3].ID })
	if i < 0 || strings.ContainsAny(d.Meta.Values[i].Text, "\x00\x1b") || !utf8.ValidString(d.Meta.Values[i].Text) || !strings.Contains(d.Meta.Values[i].Text, "ORD") || d.Meta.Values[i].Author != d.Meta.Covered[3].Author {
		t.Errorf("the values are %+v", d.Meta.Values)
	}
}
