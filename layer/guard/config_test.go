package guard_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
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
		"PriceAs ":           {PriceAs: "gemini-2.5-flash"},
		"NoteAt ":            {NoteAt: 1.5},
		"Session.ModelCalls": {Session: guard.Limits{ModelCalls: math.MinInt}},
	} {
		g, err := guard.New(cfg)
		var config *compaction.ConfigError
		if g != nil || !errors.As(err, &config) || config.Field != strings.TrimSpace(field) || !strings.HasPrefix(err.Error(), "guard config: "+config.Field+" is ") {
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
	err = d.guard.Reset(t.Context(), d.sessions, d.ref, guard.ResetOptions{AddWall: 200 * 24 * time.Hour})
	if err == nil || !strings.Contains(err.Error(), "AddWall is 4800h0m0s: add 0 or more, and at most 2501h59m59.2") {
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
	if err := d.guard.Reset(t.Context(), d.sessions, d.ref, guard.ResetOptions{AddWall: 960 * time.Hour}); err != nil {
		t.Errorf("40 days are refused: %v", err)
	}
	if _, err := guard.Decode(7); err == nil {
		t.Error("no error for a number")
	}
	if _, ok := guard.Stored(nil); ok {
		t.Error("totals of nothing")
	}
}

// What the stored totals refuse is what the next run is refused for, also after somebody has meddled with the state.
func TestStoredTotalsRefuseWhatTheNextRunIsRefusedFor(t *testing.T) {
	t.Parallel()
	limits := func(calls int) guard.Config { return guard.Config{Session: guard.Limits{ModelCalls: calls}} }
	const none = `{"v":1,"app":"app","user":"u","session":"s","total":[0,0,0,0,0],"turn_total":[0,0,0,0,0],"last":[0,0,0,0,0]}`
	for name, c := range map[string]struct {
		calls, later int // the limit of the session, and that of the guard that is asked
		change       func(d *desk)
		refused      bool
	}{
		"a limit that is reached":           {1, 1, nil, true},
		"a limit that is not":               {2, 2, nil, false},
		"a limit that was raised":           {1, 5, nil, false},
		"a limit that is newer than a call": {5, 1, nil, true},
		"a state that a client sent":        {1, 1, func(d *desk) { putState(t, d, "user", said("reset"), none) }, true},
		"a damaged state":                   {1, 1, func(d *desk) { putState(t, d, "user", said("reset"), "{") }, true},
		"a session without totals":          {1, 1, nil, false},
	} {
		d := newDesk(t, limits(c.calls), answers(usage()))
		if name != "a session without totals" {
			d.say("hi", agent.StreamingModeNone, 0)
		}
		if c.change != nil {
			c.change(d)
		}
		later := newDesk(t, limits(c.later), answers(usage()))
		stop := guard.Refuses(later.guard, d.stored())
		if (stop != nil) != c.refused || c.refused && stop.Kind != guard.ModelCalls {
			t.Errorf("%s: refused with %v, want a refusal: %t", name, stop, c.refused)
		}
		if used, err := later.guard.Usage(t.Context(), d.sessions, d.ref); err != nil || (used.Stopped != nil) != c.refused {
			t.Errorf("%s: the next run is refused with %v, %v", name, used.Stopped, err)
		}
	}
	d := newDesk(t, limits(1), answers(usage()))
	for _, stop := range []*guard.StopError{guard.Refuses(d.guard, nil), guard.Refuses(nil, d.stored())} {
		if stop != nil {
			t.Errorf("nothing is refused with %v", stop)
		}
	}
}

func TestABareNumberIsNoAmountOfMoney(t *testing.T) {
	t.Parallel()
	for _, limits := range []guard.Limits{{USD: 1}, {USD: 50}, {USD: 99_999}, {USD: guard.Dollars(-1)}, {USD: guard.Dollars(math.NaN())}, {USD: guard.Dollars(math.Inf(1))}, {USD: guard.Dollars(2e6)}} {
		_, turn := guard.New(guard.Config{Turn: limits})
		_, session := guard.New(guard.Config{Session: limits})
		var refused *compaction.ConfigError
		if !errors.As(turn, &refused) || refused.Field != "Turn.USD" || session == nil {
			t.Errorf("%d: %v, %v", limits.USD, turn, session)
		}
		if limits.USD > 0 && !strings.Contains(turn.Error(), "guard.Dollars(0.10)") {
			t.Errorf("no remedy: %v", turn)
		}
	}
	for usd, want := range map[float64]tokens.Nano{0: 0, 0.10: 10 * tokens.Cent, 0.3: 30 * tokens.Cent, 20: 20 * tokens.Dollar, 0.0325: 32_500_000, 1e-4: 100_000} {
		if got := guard.Dollars(usd); got != want {
			t.Errorf("Dollars(%v) is %d", usd, got)
		}
		if _, err := guard.New(guard.Config{Turn: guard.Limits{USD: want}}); err != nil {
			t.Errorf("%v: %v", want, err)
		}
	}
}
