package replaycmd

import (
	"errors"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/summarizer"
)

// policyOf is the default policy with a summarizer and a context window.
func policyOf(who string) policy {
	p := defaultPolicy()
	p.summarizer, p.cfg.ContextWindow = who, 32_000
	return p
}

func TestPolicyOfTheFlagsIsThatOfTheLibrary(t *testing.T) {
	t.Parallel()
	got, err := policyOf(extractive).build("name", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	want := compaction.DefaultConfig()
	want.InvocationThreshold, want.SafetyRatio = 0, 0 // prices decide, and what goes with that
	want.ContextWindow = 32_000
	want.Synchronous = true
	want.Summarizer = summarizer.Extractive{}
	if changed := changedFields(got.Config, want); len(changed) > 0 || got.When != replay.AsConfigured || got.Name != "name" {
		t.Errorf("got %+v, want %+v", got.Config, want)
	}
}

// TestTheShareShownIsTheOneActedOn asks the library at which size it compacts.
func TestTheShareShownIsTheOneActedOn(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*compaction.Config){
		func(*compaction.Config) {},
		func(c *compaction.Config) { c.BlockRatio = 0.5 },
		func(c *compaction.Config) { c.InvocationThreshold = 5 },
		func(c *compaction.Config) { c.InvocationThreshold = compaction.Off },
		func(c *compaction.Config) { c.SafetyRatio = 0.4 },
		func(c *compaction.Config) { c.SafetyRatio = compaction.Off },
	} {
		p := policyOf(extractive)
		change(&p.cfg)
		built, err := p.build("", nil, false)
		if err != nil {
			t.Fatal(err)
		}
		service, err := compaction.NewCompactionService(session.InMemoryService(), built.Config)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := service.Triggers(compaction.SessionRef{}).Tokens, int(math.Ceil(p.safetyRatio()*(32_000-3_200))); got != want {
			t.Errorf("%+v: compacts at %d tokens, and %d are said", p.cfg, got, want)
		}
	}
}

func TestSummariesAreWrittenByWhomTheFlagNames(t *testing.T) {
	t.Parallel()
	llm := compactiontest.NewModel("gemini-2.5-flash", nil)
	for _, who := range setting.Names(summarizers) {
		got, err := policyOf(who).build("", llm, false)
		if err != nil {
			t.Fatal(err)
		}
		if (got.Config.Model != nil) != (who == byModel) || (got.Config.Summarizer == nil) != (who == byModel) {
			t.Errorf("%s: model %v, summarizer %v", who, got.Config.Model, got.Config.Summarizer)
		}
		if (got.When == replay.Never) != (who == off) || (got.When == replay.AsRecorded) != (who == recorded) {
			t.Errorf("%s compacts when %v", who, got.When)
		}
	}
}

// changedFields names the fields of a config that differ from another.
func changedFields(a, b any) []string {
	var names []string
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		if x.Field(i).Kind() != reflect.Func && !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			names = append(names, x.Type().Field(i).Name)
		}
	}
	return names
}

// TestEveryConfigFieldThatAFlagSetsIsMapped sets each flag to another value and looks at the config
// that comes of it: the only field that changes must be the one that the setting names, so that the
// library's errors find the flag.
func TestEveryConfigFieldThatAFlagSetsIsMapped(t *testing.T) {
	t.Parallel()
	mapped := 0
	for _, s := range defaultSettings() {
		if s.Name == "summarizer" || s.Name == "summary-model" || s.Name == "policy" || s.Name == "layers" || s.Name == "no-ledger" {
			continue // they set no field of their own
		}
		before, after := policyOf(extractive), policyOf(extractive)
		changed, _ := setting.Find(after.settings(), s.Name)
		value := "7"
		switch {
		case strings.HasSuffix(s.Name, "-ratio") || s.Name == "mask-from" || s.Name == "defer-above":
			value = "0.5"
		case s.Name == "defer-mode":
			value = "promote"
		case s.Name == "prompt-pack":
			value = "handover"
		}
		if err := changed.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		got := slices.Concat(changedFields(before.cfg, after.cfg), changedFields(before.layers.limits, after.layers.limits), changedFields(before.layers.masking, after.layers.masking),
			changedFields(before.layers.search, after.layers.search))
		if len(got) != 1 || got[0] != s.Field {
			t.Errorf("--%s changes the fields %v, and is mapped to %q", s.Name, got, s.Field)
		}
		err := before.inFlags(errors.Join(errors.New("other"), &compaction.ConfigError{Field: s.Field, Value: 7, Reason: "why"}))
		if want := "--" + s.Name + " is 7: why"; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
		mapped++
	}
	if mapped != 19 {
		t.Errorf("%d flags set fields: the test looks in the wrong place", mapped)
	}
}

func defaultSettings() []setting.Setting {
	p := defaultPolicy()
	return p.settings()
}

// TestReasonsOfTheLibraryKeepTheirWords: only a translation of the fields that they name follows.
func TestReasonsOfTheLibraryKeepTheirWords(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*compaction.Config){
		`^--token-threshold is 30000: it would never be reached: SafetyRatio 0\.95 × \(ContextWindow 32000 - MaxOutputTokens 3200\) = 27360 .*, set SafetyRatio to Off, or set ContextWindow \(here SafetyRatio is --safety-ratio, ContextWindow is --context-window, MaxOutputTokens is not a flag, Off is 0\)$`: func(c *compaction.Config) { c.TokenThreshold = 30_000 },
		`^--context-window is 1: with MaxOutputTokens .* lower MaxOutputTokens \(here MaxOutputTokens is not a flag, BlockRatio is --block-ratio, ContextWindow is --context-window\)$`:                                                                                                                           func(c *compaction.Config) { c.ContextWindow = 1 },
		`^--safety-ratio is 0\.7: .* before the hard limit, which is BlockRatio 0\.5 of .* \(here BlockRatio is --block-ratio, SafetyRatio is --safety-ratio, Off is 0\)$`:                                                                                                                                        func(c *compaction.Config) { c.SafetyRatio, c.BlockRatio = 0.7, 0.5 },
		`^--overlap is -2: .*; --retain is -3: `: func(c *compaction.Config) { c.OverlapSize, c.RetainEvents = -2, -3 },
	} {
		p := policyOf(extractive)
		change(&p.cfg)
		_, err := p.build("", nil, false)
		if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) || strings.Contains(err.Error(), "compaction config") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
