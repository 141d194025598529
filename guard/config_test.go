package guard_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/guard"
	"github.com/adk-go-ext/longsession/guard/watchdog"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestConfigProblemsAreNamed(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]guard.Config{
		"Turn.USD":           {Turn: guard.Limits{USD: -1}},
		"Session.USD":        {Session: guard.Limits{USD: 2_000_000 * tokens.Dollar}},
		"Turn.ModelCalls":    {Turn: guard.Limits{ModelCalls: -1}},
		"Session.Tokens":     {Session: guard.Limits{Tokens: -1}},
		"Session.Wall":       {Session: guard.Limits{Wall: -1}},
		"NoteAt":             {NoteAt: math.NaN()},
		"Landing":            {Landing: "gently"},
		"OnStop":             {OnStop: "panic"},
		"Unpriced":           {Unpriced: "ignore"},
		"PriceAs":            {Unpriced: guard.UnpricedAs, PriceAs: "no such model"},
		"Observer":           {Observer: guard.ObserverFunc(nil)},
		"PriceAs ":           {PriceAs: "gemini-2.5-flash"},
		"NoteAt ":            {NoteAt: 1.5},
		"Session.ModelCalls": {Session: guard.Limits{ModelCalls: math.MinInt}},
	} {
		g, err := guard.New(cfg)
		var config *guard.ConfigError
		if g != nil || !errors.As(err, &config) || config.Field != strings.TrimSpace(field) || !strings.HasPrefix(err.Error(), "guard: "+config.Field+" is ") {
			t.Errorf("%s: %v", field, err)
		}
	}
	_, err := guard.New(guard.Config{Turn: guard.Limits{USD: -1, Tokens: -2}, NoteAt: -3, Watchdog: watchdog.Config{Mode: "bite"}})
	for _, want := range []string{"Turn.USD", "Turn.Tokens", "NoteAt", "Watchdog"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if _, err := guard.New(guard.Config{}); err != nil {
		t.Error(err)
	}
}

func TestAResetRefusesNonsense(t *testing.T) {
	t.Parallel()
	d := newDesk(t, guard.Config{}, newWorker())
	err := d.guard.Reset(t.Context(), d.sessions, d.ref, guard.ResetOptions{AddUSD: -1, AddTokens: math.MaxInt})
	if err == nil || !strings.Contains(err.Error(), "AddUSD") || !strings.Contains(err.Error(), "AddTokens") {
		t.Error(err)
	}
	if err := d.guard.Reset(t.Context(), nil, d.ref, guard.ResetOptions{}); err == nil {
		t.Error("no error for a nil service")
	}
	unknown := d.ref
	unknown.SessionID = "unknown"
	if err := d.guard.Reset(t.Context(), d.sessions, unknown, guard.ResetOptions{}); err == nil {
		t.Error("no error for an unknown session")
	}
	if err := d.guard.Reset(t.Context(), d.sessions, d.ref, guard.ResetOptions{}); err != nil || d.stored().Events().Len() != 0 {
		t.Errorf("a session that is not stopped: %v, %d events", err, d.stored().Events().Len())
	}
	if _, err := guard.Decode(7); err == nil {
		t.Error("no error for a number")
	}
	if _, ok := guard.Stored(nil); ok {
		t.Error("totals of nothing")
	}
}
