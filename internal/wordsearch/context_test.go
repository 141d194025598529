package wordsearch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// TestASearchEndsWithItsContext: at the next event, and what was read before is kept.
func TestASearchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var chat []*session.Event
	for i := range 100 {
		chat = append(chat, said(fmt.Sprint("parcel ", i))...)
		chat[i].ID = fmt.Sprint("e", i)
	}
	m, read := wordsearch.NewMemory(0), 0
	ctx, cancel := context.WithCancel(t.Context())
	q := index.Query{Text: "parcel", Limit: 100, Redact: func(text string) string {
		if read++; read == 40 {
			cancel()
		}
		return text
	}}
	if hits, err := m.Search(ctx, key("s"), chat, q); !errors.Is(err, context.Canceled) || len(hits) > 0 || read != 40 {
		t.Errorf("%d hits, %v, after %d events were read", len(hits), err, read)
	}
	if hits := search(m, key("s"), chat, q); len(hits) != 100 || read != 100 {
		t.Errorf("the next search has %d hits, after %d events were read, want each once", len(hits), read)
	}
	ctx, cancel = context.WithCancel(t.Context())
	looked := 0
	q.May = func(*session.Event) bool {
		if looked++; looked == 7 {
			cancel()
		}
		return true
	}
	if hits, err := m.Search(ctx, key("s"), chat, q); !errors.Is(err, context.Canceled) || len(hits) > 0 || looked != 7 {
		t.Errorf("%d hits, %v, after %d events were looked at", len(hits), err, looked)
	}
	if hits, err := m.Search(ctx, key("s"), chat, index.Query{}); !errors.Is(err, context.Canceled) || len(hits) > 0 {
		t.Errorf("a query without words: %d hits, %v", len(hits), err)
	}
}

// TestAPanicOfMayHarmsNoOtherSearch: its first estimates are not those of another search.
func TestAPanicOfMayHarmsNoOtherSearch(t *testing.T) {
	chat := said("parcel parcel parcel", "-", "a parcel for the zoo", "zoo", "a zebra")
	want := positions(search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "zoo"}))
	for range 20 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("May was not asked")
				}
			}()
			search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "parcel", May: func(*session.Event) bool { panic("no") }})
		}()
		if got := positions(search(wordsearch.NewMemory(0), key("s"), chat, index.Query{Text: "zoo"})); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}
