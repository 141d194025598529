package preset_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/tokens"
)

// texts are values for each key, without any that contradict each other: which one counts is all that this
// test is about.
var texts = map[string][]string{
	"session.preset":                        {"longrun"},
	"session.task_class":                    {"debug", "chat", "research", "review"},
	"agent.model":                           {"gemini-2.5-pro", "claude-opus-4-7", "gemini-2.5-flash", "house-llm"},
	"session.ask":                           {"always", "auto", "allow"},
	"compaction.thresholds":                 {"standard", "late", "small", "tier"},
	"compaction.threshold":                  {"0", "0.2", "0.3", "0.5"},
	"compaction.threshold_by_tier.small":    {"0", "0.11", "0.12"},
	"compaction.threshold_by_tier.mid":      {"0", "0.21", "0.22"},
	"compaction.invocation_threshold":       {"0", "3", "9"},
	"session.checkpoint":                    {"model", "operator", "off"},
	"agent.max_turn_cost_usd":               {"0", "0.25", "1.50"},
	"agent.max_session_cost_usd":            {"30", "40"},
	"agent.max_tool_iterations":             {"0", "7", "40"},
	"agent.agentic_tools":                   {"true", "false"},
	"safety.watchdog":                       {"warn", "note", "stop", "off"},
	"safety.small_tier_parent":              {"warn", "allow"},
	"compaction.threshold_by_tier.frontier": {"0", "0.31", "0.32"},
}

// source is one source of a random case, as texts.
type source struct {
	name string
	set  map[string]string
}

// setBy returns the text that a source sets for a key, by which name, as the documents say it.
func (s source) setBy(key string) (text, origin string, set bool) {
	text, set = s.set[key]
	if !set {
		return "", "", false
	}
	for _, k := range preset.Keys() {
		if k.Name != key {
			continue
		}
		switch s.name {
		case "flag":
			return text, "flag --" + k.Flag, true
		case "environment":
			return text, "environment " + k.Environment(), true
		}
	}
	return text, s.name + " " + key, true
}

// TestTheNearestSourceWinsAndEveryOriginIsTrue compares random cases with the rules, written down once more.
func TestTheNearestSourceWinsAndEveryOriginIsTrue(t *testing.T) {
	t.Parallel()
	keys := make([]string, 0, len(texts))
	for key := range texts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	decided := map[string]int{}
	prices, err := tokens.NewRegistry(tokens.Model{Name: "house-llm", ContextWindow: 128_000, InputPrice: 1, OutputPrice: 2})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Check(t, func(t *rapid.T) {
		sources := []source{{name: "flag"}, {name: "environment"}, {name: "file"}, {name: "app"}}
		values := make([]preset.Values, len(sources))
		for i := range sources {
			sources[i].set = map[string]string{}
			for _, key := range keys {
				if !rapid.Bool().Draw(t, sources[i].name+" "+key) {
					continue
				}
				text := rapid.SampledFrom(texts[key]).Draw(t, key)
				sources[i].set[key] = text
				if err := values[i].Set(key, text); err != nil {
					t.Fatal(err)
				}
			}
		}
		s, err := preset.Resolve(preset.In{Flag: values[0], Environment: values[1], File: values[2], App: values[3], Registry: prices})
		if err != nil {
			t.Fatal(err)
		}
		lines := map[string]preset.Line{}
		for _, l := range s.Lines() {
			lines[l.Key] = l
		}
		for _, key := range keys {
			l, shown := lines[key]
			if !shown || key == "compaction.threshold" {
				continue
			}
			for _, from := range sources {
				text, origin, set := from.setBy(key)
				if !set {
					continue
				}
				if l.Origin != origin || !means(l.Value, text) {
					t.Fatalf("%s is %q from %q, want %q from %q", key, l.Value, l.Origin, text, origin)
				}
				decided[key]++
				break
			}
		}
		want := thresholdOf(sources, string(s.Tier))
		if got := lines["compaction.threshold"]; want.Origin != "" && got != want {
			t.Fatalf("for tier %q the threshold is %+v, want %+v", s.Tier, got, want)
		}
		if want.Origin != "" {
			decided[strings.Fields(want.Origin)[0]]++
		}
	})
	for _, key := range []string{"flag", "session.ask", "agent.max_turn_cost_usd", "agent.model"} {
		if decided[key] == 0 {
			t.Errorf("no case had a value by %s", key)
		}
	}
}

// thresholdOf is the rule for the threshold: the nearest source, and within it the special.
func thresholdOf(sources []source, tier string) preset.Line {
	for _, from := range sources {
		for _, key := range []string{"compaction.threshold_by_tier." + tier, "compaction.threshold", "compaction.thresholds"} {
			text, origin, set := from.setBy(key)
			if !set {
				continue
			}
			pair := map[string]string{"frontier": "0.85", "mid": "0.65", "small": "0.35", "": "0.85"}
			switch text {
			case "0":
				text = "off"
			case "standard":
				text = "0.7"
			case "late":
				text = "0.95"
			case "small":
				text = "0.35"
			case "tier":
				text = pair[tier]
			}
			return preset.Line{Key: "compaction.threshold", Value: text, Origin: origin}
		}
	}
	return preset.Line{}
}

// means compares a value as it is shown with its text: 0 is shown as off, amounts with four decimals, and a
// model with its tier.
func means(shown, text string) bool {
	if text == "0" {
		return shown == "off"
	}
	var dollars float64
	if n, err := fmt.Sscanf(text, "%g", &dollars); err == nil && n == 1 && strings.HasPrefix(shown, "$") {
		return shown == fmt.Sprintf("$%.4f", dollars)
	}
	return shown == text || strings.HasPrefix(shown, text+", ")
}

// FuzzResolve: texts of any kind are read or refused by name, and what is resolved is usable.
func FuzzResolve(f *testing.F) {
	for _, key := range preset.Keys() {
		f.Add(key.Name, "0.5", key.Name, "longrun", true)
		f.Add(key.Name, "true", "agent.max_session_cost_usd", "-0", false)
	}
	f.Add("compaction.threshold", "nan", "agent.model", "models/", true)
	f.Fuzz(func(t *testing.T, one, first, other, second string, alone bool) {
		var flag, file preset.Values
		for _, err := range []error{flag.Set(one, first), file.Set(other, second)} {
			var refused *preset.SettingError
			if err != nil && (!errors.As(err, &refused) || refused.Reason == "") {
				t.Fatalf("an error without a reason: %v", err)
			}
		}
		s, err := preset.Resolve(preset.In{Flag: flag, File: file, OneShot: alone})
		if err != nil {
			return
		}
		if s.Model.Value == "" || !(s.Threshold.Value >= 0 && s.Threshold.Value < s.BlockThreshold.Value) || s.BlockThreshold.Value > 1 ||
			s.MaxTurnCost.Value < 0 || s.MaxSessionCost.Value < 0 || s.Unattended.Value && s.MaxSessionCost.Value == 0 && s.MaxSessionCost.Source == preset.FromDefault {
			t.Fatalf("unusable settings:\n%s", s.Explain())
		}
		for _, l := range s.Lines() {
			if l.Value == "" || l.Origin == "" {
				t.Fatalf("a line without value or origin: %+v", l)
			}
		}
	})
}
