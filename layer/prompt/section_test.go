package prompt_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

func TestBuildJoinsSectionsAndPutsABreakPointBehindEachCacheableOne(t *testing.T) {
	t.Parallel()
	sections, err := prompt.NewSections(
		prompt.PromptSection{Name: "base", Content: "You help.", Cacheable: true},
		prompt.PromptSection{Name: "project", Content: "Use {tabs}.", Cacheable: true},
		prompt.PromptSection{Name: "memories", Content: " \n", Cacheable: true},
		prompt.PromptSection{Name: "skills", Content: "pdf: reads PDF"},
		prompt.PromptSection{Name: "status", Content: "It rains."},
	)
	if err != nil {
		t.Fatal(err)
	}
	text, breaks := sections.Build()
	if want := "You help.\n\nUse {tabs}.\n\npdf: reads PDF\n\nIt rains."; text != want {
		t.Errorf("text %q, want %q", text, want)
	}
	if want := []int{9, 22}; !slices.Equal(breaks, want) {
		t.Errorf("break points %v, want %v", breaks, want)
	}
	if text, breaks := (prompt.Sections{}).Build(); text != "" || breaks != nil {
		t.Errorf("no sections: %q, %v", text, breaks)
	}
}

func TestNewSectionsRefusesWhatNoProviderCouldCache(t *testing.T) {
	t.Parallel()
	_, err := prompt.NewSections(
		prompt.PromptSection{Name: "status", Content: "It rains."},
		prompt.PromptSection{Name: "base", Content: "You help.", Cacheable: true},
		prompt.PromptSection{Content: "?"},
		prompt.PromptSection{Name: "base", Content: "You help."},
	)
	if want := map[string]bool{"sections[1].Cacheable": true, "sections[2].Name": true, "sections[3].Name": true}; !sameFields(err, want) {
		t.Errorf("refused: %v, want %v", err, want)
	}
}

// Build joins sections in the wrong order, too. It returns no break point that is of no use.
func TestBuildOfSectionsInTheWrongOrder(t *testing.T) {
	t.Parallel()
	text, breaks := prompt.Sections{{Name: "a", Content: "A", Cacheable: true}, {Name: "b", Content: "B"}, {Name: "c", Content: "C", Cacheable: true}}.Build()
	if text != "A\n\nB\n\nC" || !slices.Equal(breaks, []int{1}) {
		t.Errorf("%q, %v", text, breaks)
	}
}

// nilSource is a source whose pointer may be nil.
type nilSource struct{ prompt.Source }

func TestNewRefusesEveryBadValueAtOnce(t *testing.T) {
	t.Parallel()
	_, err := prompt.New(prompt.Config{Project: (*nilSource)(nil), Status: prompt.SourceFunc(nil), CacheableSkills: true, SourceTimeout: -1})
	if want := map[string]bool{"Project": true, "Status": true, "CacheableSkills": true, "SourceTimeout": true}; !sameFields(err, want) {
		t.Errorf("refused: %v, want %v", err, want)
	}
	if _, err := prompt.New(prompt.Config{}); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}

// sameFields reports whether an error joins a ConfigError for each of some fields.
func sameFields(err error, want map[string]bool) bool {
	fields := map[string]bool{}
	var visit func(error)
	visit = func(err error) {
		var one *prompt.ConfigError
		switch e := err.(type) {
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				visit(inner)
			}
		case interface{ Unwrap() error }:
			visit(e.Unwrap())
		default:
			if errors.As(err, &one) {
				fields[one.Field] = true
			}
		}
	}
	visit(err)
	if len(fields) != len(want) {
		return false
	}
	for field := range want {
		if !fields[field] {
			return false
		}
	}
	return true
}
