package ledger

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/adk-go-ext/longsession/tokens"
)

var (
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	self  = Owner{"app", "u", "s"}
)

func cents(n int) Amount {
	return Amount{Calls: 1, Usage: tokens.Usage{PromptTokens: 10 * n, CachedTokens: n, OutputTokens: n}, USD: tokens.Nano(n) * tokens.Cent}
}

// call makes one call, and returns why it was refused.
func call(t *testing.T, p Payer, a Amount) *Stop {
	t.Helper()
	d := p.Reserve(start, Amount{}, true)
	if d.Call == nil {
		return d.Stop
	}
	d.Call.Settle(start, "m", a, false)
	return nil
}

func TestABoundIsReachedWhenItIsMet(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limits       Limits
		spent, bound string
		calls        int
	}{
		"usd": {Limits{USD: 80 * tokens.Cent}, "$0.8000", "$0.8000", 8}, "usd between": {Limits{USD: 75 * tokens.Cent}, "$0.8000", "$0.7500", 8},
		"calls":  {Limits{ModelCalls: 1_234}, "1,234 model calls", "1,234 model calls", 1_234},
		"one":    {Limits{ModelCalls: 1}, "1 model call", "1 model call", 1},
		"tokens": {Limits{Tokens: 330}, "330 tokens", "330 tokens", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := Open(self, Limits{}, tc.limits).Begin("i", start)
			for i := range tc.calls {
				if stop := call(t, p, cents(10)); stop != nil {
					t.Fatalf("call %d: %+v", i, stop)
				}
			}
			stop := call(t, p, cents(10))
			if stop == nil || stop.Scope != Turn || stop.Spent != tc.spent || stop.Bound != tc.bound {
				t.Errorf("%+v", stop)
			}
		})
	}
}

func TestTimeIsABound(t *testing.T) {
	t.Parallel()
	a := Open(self, Limits{Wall: 3 * time.Minute}, Limits{Wall: 2 * time.Minute})
	p, _ := a.Begin("1", start)
	if d := p.Reserve(start.Add(119*time.Second), Amount{}, true); d.Call == nil || !d.Land || d.Left != time.Second || d.Limit.Scope != Turn {
		t.Errorf("%+v", d)
	}
	if d := p.Reserve(start.Add(2*time.Minute), Amount{}, true); d.Stop == nil || d.Stop.Kind != Wall || d.Stop.Spent != "2m0s" || len(d.Tripped) != 1 {
		t.Errorf("%+v", d)
	}
	p.End(start.Add(2 * time.Minute))
	p, _ = a.Begin("2", start.Add(time.Hour))
	if d := p.Reserve(start.Add(time.Hour+59*time.Second), Amount{}, true); d.Stop != nil {
		t.Errorf("%+v: the pause between turns counts", d.Stop)
	}
	if d := p.Reserve(start.Add(time.Hour+time.Minute), Amount{}, true); d.Stop == nil || d.Stop.Scope != Session {
		t.Errorf("%+v", d)
	}
}

func TestCallsInFlightHoldOthersBack(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]Limits{"calls": {ModelCalls: 3}, "usd": {USD: 30 * tokens.Cent}, "tokens": {Tokens: 330}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := Open(self, Limits{}, limits).Begin("i", start)
			call(t, p, cents(10))
			first, second := p.Reserve(start, Amount{}, false), p.Reserve(start, Amount{}, false)
			third := p.Reserve(start, Amount{}, false)
			if first.Call == nil || second.Call == nil || third.Wait == nil {
				t.Fatalf("%+v %+v %+v", first, second, third)
			}
			first.Call.Release(start) // it has failed
			select {
			case <-third.Wait:
			default:
				t.Fatal("a call that waits is not told")
			}
			if third = p.Reserve(start, Amount{}, false); third.Call == nil {
				t.Fatalf("refused too early: %+v", third)
			}
			second.Call.Settle(start, "m", cents(10), false)
			third.Call.Settle(start, "m", cents(10), false)
			if d := p.Reserve(start, Amount{}, false); d.Stop == nil {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestNoCallStartsAboveABoundAndEachIsCountedOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		limits := func() Limits {
			return Limits{USD: tokens.Nano(r.IntN(3)) * 50 * tokens.Cent, ModelCalls: r.IntN(3) * 20, Tokens: r.IntN(3) * 2_000}
		}
		root := Open(self, limits(), limits())
		p, _ := root.Begin("0", start)
		payers, entries := []Payer{p}, map[string]Amount{}
		var all []Amount
		type inFlight struct {
			call *Call
			with Payer
		}
		var calls []inFlight
		for range 200 {
			payer := payers[r.IntN(len(payers))]
			switch r.IntN(10) {
			case 0:
				p, _ := root.Begin(fmt.Sprint(r.IntN(4)), start)
				payers = append(payers, p)
			case 1:
				child := payer.Child(Owner{"app", "u", fmt.Sprint("c", len(payers))}, limits(), start)
				payers = append(payers, child.Turn(""))
			case 2, 3, 4, 5:
				before := payer.Stopped(start)
				d := payer.Reserve(start, cents(3), true)
				if (d.Stop != nil) != (before != nil) {
					t.Fatalf("seed %d: %+v, and %+v was the bound", seed, d, before)
				}
				if d.Call != nil {
					calls = append(calls, inFlight{d.Call, payer})
				}
			default:
				if len(calls) == 0 {
					continue
				}
				i := r.IntN(len(calls))
				c := calls[i].call
				calls = append(calls[:i], calls[i+1:]...)
				if r.IntN(4) == 0 {
					c.Release(start)
					continue
				}
				model, a := fmt.Sprint("m", r.IntN(3)), cents(r.IntN(20))
				if r.IntN(3) == 0 {
					c.Settle(start, model, cents(r.IntN(2)), false)
					a = c.charged.Max(a)
				}
				c.Settle(start, model, a, false)
				a.Calls = 1
				entries[model] = entries[model].Plus(a)
				all = append(all, a)
			}
		}
		var sum, models Amount
		for _, a := range all {
			sum = sum.Plus(a)
		}
		state := root.State(start)
		for _, a := range state.Models {
			models = models.Plus(a)
		}
		if state.Total != sum || models != sum {
			t.Fatalf("seed %d: total %+v, by model %+v, entries %+v", seed, state.Total, models, sum)
		}
		if diff := cmp.Diff(entries, state.Models); diff != "" && len(state.Models) > 0 {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		for _, f := range calls {
			f.call.Release(start)
		}
		if root.inFlight != (Amount{}) {
			t.Fatalf("seed %d: %+v in flight", seed, root.inFlight)
		}
		text := Encode(self, state)
		o, back, err := Decode(text)
		if err != nil || o != self {
			t.Fatalf("seed %d: %v in %s", seed, err, text)
		}
		if again := Encode(self, back); again != text {
			t.Fatalf("seed %d: %s\nbecomes %s", seed, text, again)
		}
	}
}

func TestASnapshotIsSmall(t *testing.T) {
	t.Parallel()
	a := Open(Owner{"my-application", "user-12345", "0a1b2c3d-0000-7000-8000-000000000000"}, Limits{USD: tokens.Dollar}, Limits{USD: tokens.Cent})
	p, _ := a.Begin("e-0a1b2c3d-0000-7000-8000-000000000000", start)
	for i := range 2 {
		d := p.Reserve(start, Amount{}, true)
		d.Call.Settle(start, fmt.Sprint("gemini-3.1-pro-preview-customtools-", i), Amount{Calls: 1, Usage: tokens.Usage{PromptTokens: 123_456, CachedTokens: 100_000, OutputTokens: 12_345}, USD: 4_999_999}, false)
	}
	if text, _ := a.Write(start); len(text) > 1_024 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

func TestAResetLetsGoOn(t *testing.T) {
	t.Parallel()
	a := Open(self, Limits{USD: 50 * tokens.Cent}, Limits{USD: 20 * tokens.Cent})
	p, _ := a.Begin("1", start)
	call(t, p, cents(20))
	if stop := a.Refuses(start); stop == nil || stop.Scope != Turn {
		t.Fatalf("%+v", stop)
	}
	p, _ = a.Begin("2", start)
	if stop := call(t, p, cents(1)); stop == nil {
		t.Error("a turn that begins before the reset is not refused")
	}
	if still, _, _ := a.Grant(Limits{}, start); still != nil {
		t.Fatalf("%+v", still)
	}
	if stop := call(t, p, cents(15)); stop != nil {
		t.Errorf("%+v after the reset", stop)
	}
	p, _ = a.Begin("3", start)
	call(t, p, cents(16))
	still, missing, _ := a.Grant(Limits{USD: tokens.Cent}, start)
	if still == nil || still.Scope != Session || missing.USD != 24*tokens.Cent {
		t.Errorf("%+v, missing %+v", still, missing)
	}
	still, _, undo := a.Grant(Limits{USD: 2 * tokens.Cent}, start)
	if still != nil || a.Refuses(start) != nil {
		t.Errorf("%+v", still)
	}
	if s := a.State(start); s.Total.USD != 51*tokens.Cent {
		t.Errorf("a reset has changed the total to %v", s.Total.USD)
	}
	if undo(); a.Refuses(start) == nil {
		t.Error("a reset that is taken back has an effect")
	}
}

func TestACallThatOnlyCallsInFlightWouldMakeTheLastOneWaits(t *testing.T) {
	t.Parallel()
	p, _ := Open(self, Limits{}, Limits{USD: 100 * tokens.Cent}).Begin("i", start)
	call(t, p, cents(30))
	first := p.Reserve(start, Amount{}, true) // taken to cost as much
	second := p.Reserve(start, Amount{}, true)
	if first.Land || second.Wait == nil {
		t.Fatalf("%+v, %+v", first, second)
	}
	first.Call.Settle(start, "m", cents(1), false)
	if second = p.Reserve(start, Amount{}, true); second.Call == nil || second.Land {
		t.Fatalf("the turn has used 31 cents of 100: %+v", second)
	}
}

func TestALastCallTripsWhateverComesOfIt(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Call) []Stop{
		"answered": func(c *Call) []Stop { return c.Settle(start, "m", cents(10), false).Tripped },
		"failed":   func(c *Call) []Stop { return c.Release(start) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session, turn := Limits{USD: 24 * tokens.Cent}, Limits{USD: 23 * tokens.Cent}
			a := Open(self, session, turn)
			p, _ := a.Begin("1", start)
			call(t, p, cents(10))
			d := p.Reserve(start, Amount{}, true)
			if !d.Land || a.Refuses(start) != nil {
				t.Fatalf("%+v", d)
			}
			d.Call.Land(start)
			tripped := end(d.Call)
			if len(tripped) != 2 || !tripped[0].Landed || tripped[0].Scope != Turn || tripped[1].Scope != Session || tripped[0].Bound != "$0.2300" {
				t.Errorf("%+v", tripped)
			}
			if d := p.Reserve(start, Amount{}, true); d.Call == nil || !d.Land {
				t.Errorf("a later call of the turn: %+v", d)
			} else if more := d.Call.Release(start); len(more) > 0 {
				t.Errorf("reported again: %+v", more)
			}
			text, _ := a.Write(start)
			o, stored, err := Decode(text)
			if err != nil || o != self {
				t.Fatal(err)
			}
			refuses := func(session, turn Limits) *Stop {
				later := Open(self, session, turn)
				later.Load(text, stored, start)
				return later.Refuses(start)
			}
			if stop := refuses(session, turn); stop == nil || stop.Scope != Turn || !stop.Landed || stop.Spent != a.State(start).Turn.USD.String() {
				t.Errorf("the next process: %+v", stop)
			}
			if stop := refuses(session, Limits{}); stop == nil || stop.Scope != Session || !stop.Landed {
				t.Errorf("without a limit of turns: %+v", stop)
			}
			if stop := refuses(Limits{USD: tokens.Dollar}, Limits{USD: tokens.Dollar}); stop != nil {
				t.Errorf("under higher limits: %+v", stop)
			}
			still, missing, _ := a.Grant(Limits{}, start)
			if still == nil || still.Scope != Session || missing.USD < tokens.Cent || missing.USD%tokens.Cent != 0 {
				t.Fatalf("%+v, missing %+v", still, missing)
			}
			if still, _, _ := a.Grant(missing, start); still != nil || a.Refuses(start) != nil {
				t.Fatalf("%+v", still)
			}
			p, _ = a.Begin("2", start)
			if d := p.Reserve(start, Amount{}, true); d.Call == nil || d.Land {
				t.Errorf("after what was missing is added: %+v", d)
			}
		})
	}
}

func TestWhatIsMissingIsASumForPeople(t *testing.T) {
	t.Parallel()
	used := Amount{Calls: 3, Usage: tokens.Usage{PromptTokens: 900, OutputTokens: 100}, USD: 30 * tokens.Cent}
	for _, limits := range []Limits{{USD: used.USD}, {ModelCalls: used.Calls}, {Tokens: used.Usage.Total()}, {Wall: time.Minute}} {
		a := Open(self, limits, Limits{})
		p, _ := a.Begin("1", start)
		for range 3 {
			call(t, p, Amount{Calls: 1, Usage: tokens.Usage{PromptTokens: 300, OutputTokens: 34}, USD: 10 * tokens.Cent})
		}
		p.End(start.Add(time.Minute))
		still, missing, _ := a.Grant(Limits{}, start)
		if still == nil {
			t.Fatalf("%+v is not reached", limits)
		}
		want := map[Kind]Limits{Cost: {USD: 15 * tokens.Cent}, Calls: {ModelCalls: 2}, Tokens: {Tokens: 1000}, Wall: {Wall: 20 * time.Second}}[still.Kind]
		if missing != want {
			t.Errorf("%+v: missing %+v", still, missing)
		}
	}
}

func TestTwoProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	one, two := Open(self, Limits{}, Limits{}), Open(self, Limits{}, Limits{})
	stored, in := "", State{}
	turn := func(a *Account, id string, n int) {
		t.Helper()
		a.Load(stored, in, start)
		p, _ := a.Begin(id, start)
		for range n {
			call(t, p, cents(1))
		}
		stored, _ = a.Write(start)
		_, in, _ = Decode(stored)
		a.Saw(stored)
	}
	turn(one, "1", 3)
	turn(two, "2", 4)
	turn(one, "3", 5)
	if in.Total.Calls != 12 || in.TurnID != "3" || in.Turn.Calls != 5 {
		t.Errorf("%+v", in)
	}
	// A charge between two turns is added to what the other has stored.
	Payer{Account: two}.Summary(start, "small", cents(2), false)
	turn(two, "4", 1)
	if in.Total.Calls != 14 || in.Summaries.Calls != 1 {
		t.Errorf("%+v", in)
	}
	// Storage that has forgotten something is not believed.
	if two.Load(Encode(self, State{}), State{}, start) {
		t.Error("smaller totals were taken over")
	}
	// A session that was made anew is.
	if !two.Load("", State{}, start) || two.State(start).Total.Calls != 0 {
		t.Errorf("%+v", two.State(start).Total)
	}
}

func TestAVersionThatIsNotConfirmedIsNotCountedTwice(t *testing.T) {
	t.Parallel()
	a := Open(self, Limits{}, Limits{})
	a.Load("", State{}, start)
	p, _ := a.Begin("1", start)
	call(t, p, cents(1))
	first, _ := a.Write(start)
	call(t, p, cents(1))
	second, _ := a.Write(start)
	call(t, p, cents(1))
	for _, text := range []string{first, second} {
		_, s, _ := Decode(text)
		if !a.Saw(text) {
			a.Load(text, s, start)
		}
		if got := a.State(start).Total.Calls; got != 3 {
			t.Fatalf("%d calls, not 3", got)
		}
	}
	// Another process has gone on from the second version.
	_, s, _ := Decode(second)
	s.charge("m", Amount{}, cents(1))
	a.Load(Encode(self, s), s, start)
	if got := a.State(start).Total.Calls; got != 4 {
		t.Errorf("%d calls, not 4", got)
	}
}

func TestASubtaskIsRecoveredOnce(t *testing.T) {
	t.Parallel()
	p, _ := Open(self, Limits{}, Limits{}).Begin("1", start)
	child := p.Child(Owner{"app", "u", "s:sub:x"}, Limits{}, start)
	call(t, child.Turn(""), cents(1))
	stored, _ := p.Account.Write(start) // while the subtask runs
	call(t, child.Turn(""), cents(2))
	inner := child.State(start)

	_, s, err := Decode(stored)
	if err != nil {
		t.Fatal(err)
	}
	later := Open(self, Limits{}, Limits{})
	later.Load(stored, s, start)
	for range 2 {
		later.Recover("s:sub:x", inner, start)
	}
	if got := later.State(start); got.Total.USD != 3*tokens.Cent || got.Subtasks.Calls != 2 || got.Children != 1 {
		t.Errorf("%+v", got)
	}
	// The rest of a subtask that has used a second model meanwhile is charged to that one.
	inner.charge("other", Amount{}, cents(4))
	later.Recover("s:sub:x", inner, start)
	if got := later.State(start); got.Total.USD != 7*tokens.Cent || got.Models["other"] != cents(4) || got.Models["m"].USD != 3*tokens.Cent {
		t.Errorf("%+v", got)
	}
	later.Recover("s:sub:x", inner, start)
	if got := later.State(start); got.Total.USD != 7*tokens.Cent || got.Open["s:sub:x"] != inner.Total {
		t.Errorf("%+v", got)
	}
	later.Answered(func(id string) bool { return strings.HasSuffix(id, ":x") })
	if got := later.State(start); len(got.Open) != 0 {
		t.Errorf("%+v", got.Open)
	}
}

// A cost that leaves calls out is said to do so: of a subtask that runs, is stored, is recovered, and of one that
// another process has charged.
func TestSubtasksWithoutPricesAreSaid(t *testing.T) {
	t.Parallel()
	settle := func(p Payer, unpriced bool) {
		t.Helper()
		d := p.Reserve(start, Amount{}, true)
		if d.Call == nil {
			t.Fatalf("refused: %+v", d)
		}
		d.Call.Settle(start, "home-made", Amount{Calls: 1, Usage: tokens.Usage{PromptTokens: 10}}, unpriced)
	}
	a := Open(self, Limits{}, Limits{})
	p, _ := a.Begin("1", start)
	settle(p, true)
	child := p.Child(Owner{"app", "u", "s:sub:x"}, Limits{}, start)
	settle(child.Turn(""), false)
	if got := a.State(start); got.SubtasksUnpriced || len(got.Unpriced) != 1 {
		t.Errorf("only the session's own call has no price: %+v", got)
	}
	settle(child.Turn(""), true)
	if got := a.State(start); !got.SubtasksUnpriced || child.State(start).SubtasksUnpriced {
		t.Errorf("a call of the subtask has no price: %+v", got)
	}
	text, _ := a.Write(start)
	_, stored, err := Decode(text)
	if err != nil || !stored.SubtasksUnpriced {
		t.Errorf("stored: %s, %v", text, err)
	}
	later := Open(self, Limits{}, Limits{})
	later.Recover("s:sub:x", child.State(start), start)
	if got := later.State(start); !got.SubtasksUnpriced {
		t.Errorf("recovered: %+v", got)
	}
	if got := a.State(start).onto(State{}, State{}); !got.SubtasksUnpriced {
		t.Errorf("on what another process has: %+v", got)
	}
}

func TestDamagedSnapshotsAreRefused(t *testing.T) {
	t.Parallel()
	good := Encode(self, State{Total: cents(5), Models: map[string]Amount{"m": cents(5)}})
	if _, _, err := Decode(good); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "half": good[:len(good)/2], "number": "7", "null": "null", "array": "[]",
		"version": strings.Replace(good, `"v":1`, `"v":2`, 1), "negative": strings.ReplaceAll(good, "50000000", "-50000000"),
		"huge": strings.ReplaceAll(good, "50000000", "9007199254740993"), "fraction": strings.ReplaceAll(good, "50000000", "0.5"),
		"NaN": strings.ReplaceAll(good, "50000000", "NaN"), "sum": strings.Replace(good, "50000000", "50000001", 1),
		"twice": strings.Replace(good, `"models":[`, `"models":[{"name":"m","total":[0,0,0,0,0]},`, 1),
		"long":  good + strings.Repeat(" ", maxSnapshot),
	} {
		if _, _, err := Decode(text); err == nil {
			t.Errorf("%s: no error for %.80s", name, text)
		}
	}
}

func TestAmountsNeverOverflow(t *testing.T) {
	t.Parallel()
	huge := Amount{Calls: int(most), Usage: tokens.Usage{PromptTokens: int(most)}, USD: tokens.Nano(most)}
	if got := huge.Plus(huge); got != huge {
		t.Errorf("%+v", got)
	}
	odd := Amount{Calls: -5, USD: -1}
	if got := odd.cleaned(); got != (Amount{}) {
		t.Errorf("%+v", got)
	}
}

func TestManyModelsAreCountedTogether(t *testing.T) {
	t.Parallel()
	var s State
	for i := range 100 {
		s.charge(fmt.Sprint("model ", i, strings.Repeat("é", 200)), Amount{}, cents(1))
	}
	if len(s.Models) != maxModels+1 || s.Models[otherModels].Calls != 100-maxModels {
		t.Errorf("%d names", len(s.Models))
	}
	if _, _, err := Decode(Encode(self, s)); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(self, State{Total: cents(5), Models: map[string]Amount{"m": cents(5)}, Unpriced: []string{"m"}, Granted: Limits{USD: 1}}))
	f.Add(`{"v":1,"total":[1,2,3,4,5],"models":[{"name":"a","total":[1,2,3,4,5]}],"held":{"turn":"x","spent":3,"stop":{}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, s, err := Decode(text)
		if err != nil {
			return
		}
		again := Encode(o, s)
		o2, s2, err := Decode(again)
		if err != nil || o2 != o || Encode(o2, s2) != again || !json.Valid([]byte(again)) {
			t.Fatalf("%v: %q becomes %q", err, text, again)
		}
		a := Open(o, Limits{USD: 1}, Limits{USD: 1})
		a.Load(text, s, start)
		p, _ := a.Begin("x", start)
		if d := p.Reserve(start, Amount{}, true); d.Call != nil {
			d.Call.Settle(start, "m", cents(1), false)
		}
		if got := a.State(start); !got.Total.AtLeast(s.Total) {
			t.Fatalf("%+v after %+v", got.Total, s.Total)
		}
	})
}

// TestATurnThatEndedMayBeginAnew: ADK v2 answers a paused call under the invocation ID of the run that paused.
func TestATurnThatEndedMayBeginAnew(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000, 0)
	a := Open(Owner{}, Limits{}, Limits{})
	p, _ := a.Begin("i", now)
	a.Forget("i")
	if _, began := a.Begin("i", now); began {
		t.Error("a turn that runs was forgotten")
	}
	p.End(now.Add(time.Second))
	a.Forget("i")
	if _, began := a.Begin("i", now.Add(time.Hour)); !began || !a.Runs("i") {
		t.Errorf("the turn began: %v, and runs: %v, want both", began, a.Runs("i"))
	}
}
