package compactiontest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// compacting wraps inner in a compaction service that is set up as Run requires.
func compacting(t *testing.T, inner session.Service) *compaction.CompactionSessionService {
	t.Helper()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous = &ct.Oracle{}, true
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	return svc
}

func inners() map[string]func() session.Service {
	return map[string]func() session.Service{
		"inmemory": session.InMemoryService,
		"strict":   func() session.Service { return ct.NewStrictService(ct.StrictOptions{}) },
	}
}

func TestSuitePassesOnTheCompactionService(t *testing.T) {
	t.Parallel()
	for name, inner := range inners() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ct.Run(t, func(t *testing.T) session.Service { return compacting(t, inner()) })
		})
	}
}

func (b bad) open(t *testing.T, opaque bool) session.Service {
	t.Helper()
	inner := inners()[b.over]()
	switch {
	case b.instead != nil:
		return b.instead(inner)
	case b.below != nil:
		return compacting(t, b.below(inner))
	}
	d := &decorator{Service: compacting(t, inner), opaque: opaque}
	b.spoil(d)
	return d.top()
}

func caseNamed(t *testing.T, name string) ct.Case {
	t.Helper()
	for _, c := range ct.Cases() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no case %q", name)
	return ct.Case{}
}

func TestSuiteCatchesBadDecorators(t *testing.T) {
	t.Parallel()
	caught := map[string]bool{}
	for _, b := range bads() {
		caught[b.want] = true
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			err := caseNamed(t, b.want).Check(t.Context(), b.open(t, false))
			if err == nil || !strings.Contains(err.Error(), b.says) {
				t.Errorf("case %q returns %v, want %q", b.want, err, b.says)
			}
		})
	}
	for _, c := range ct.Cases() {
		if !caught[c.Name] {
			t.Errorf("no broken decorator proves that case %q can fail", c.Name)
		}
	}
}

// If the stack cannot be unwrapped, the suite still finds everything that harms a reader of
// sessions. It skips only the case about storage.
func TestSuiteNeedsNoLookIntoStorage(t *testing.T) {
	t.Parallel()
	for _, c := range ct.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			err := c.Check(t.Context(), (&decorator{Service: compacting(t, session.InMemoryService()), opaque: true}).top())
			if skipped := errors.Is(err, ct.ErrNotShown); skipped != (c.Name == "storage keeps everything") || err != nil && !skipped {
				t.Errorf("on a good decorator: %v", err)
			}
		})
	}
	for _, b := range bads() {
		if b.spoil == nil || b.want == "storage keeps everything" || b.name == "shows a summary of no record" {
			continue // breaks the backend or storage, which only Raw shows
		}
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			err := caseNamed(t, b.want).Check(t.Context(), b.open(t, true))
			if err == nil || !strings.Contains(err.Error(), b.says) {
				t.Errorf("case %q returns %v, want %q", b.want, err, b.says)
			}
		})
	}
}

func TestCasesExplainThemselves(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, c := range append(ct.Cases(), ct.OptionalCases()...) {
		if names[c.Name] || c.Name == "" || len(c.Explain) < 100 || !strings.HasPrefix(c.Explain, "Checks that ") {
			t.Errorf("case %q: its name is a duplicate, or its explanation is missing", c.Name)
		}
		names[c.Name] = true
	}
	if len(names) < 26 {
		t.Errorf("%d cases only", len(names))
	}
}
