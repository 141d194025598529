package audit_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/compaction"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// asker calls a tool when the user speaks, and then answers. Each of its calls costs the same.
type asker struct {
	name, calls string
}

func (m asker) Name() string { return m.name }

func (m asker) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		last := req.Contents[len(req.Contents)-1]
		answer := genai.NewContentFromText("Done.", genai.RoleModel)
		if m.calls != "" && last.Parts[0].Text != "" {
			answer = genai.NewContentFromFunctionCall(m.calls, map[string]any{"request": "look"}, genai.RoleModel)
		}
		yield(&model.LLMResponse{Content: answer, UsageMetadata: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1000, CandidatesTokenCount: 100}}, nil)
	}
}

// guarded returns a file with a session "s" that a guard stopped and somebody reset. A whole turn has two calls of
// the agent and one of an agent in an AgentTool, which is in no event. The second turn ends with its first call.
func guarded(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	stored := writing(t, path)
	call := nanos(t, "gemini-2.5-flash", 1000, 0, 100)
	g, err := guard.New(guard.Config{Session: guard.Limits{USD: 4 * call}, Landing: guard.LandingHard})
	if err != nil {
		t.Fatal(err)
	}
	inner, err := llmagent.New(llmagent.Config{Name: "helper", Model: g.Model(asker{name: "gemini-2.5-flash"})})
	if err != nil {
		t.Fatal(err)
	}
	outer, err := llmagent.New(llmagent.Config{Name: "desk", Model: g.Model(asker{"gemini-2.5-flash", "helper"}), Tools: []tool.Tool{agenttool.New(inner, nil)}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: app, Agent: outer, SessionService: stored, PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{g.Plugin()}}})
	if err != nil {
		t.Fatal(err)
	}
	create(t, stored, user, "s")
	say := func(stops bool) {
		t.Helper()
		var stop *guard.StopError
		for _, err := range r.Run(t.Context(), user, "s", genai.NewContentFromText("Look.", genai.RoleUser), agent.RunConfig{}) {
			if err != nil && !errors.As(err, &stop) {
				t.Fatal(err)
			}
		}
		if (stop != nil) != stops {
			t.Fatalf("stop %v", stop)
		}
	}
	say(false)
	say(true) // reaches the bound
	say(true)
	if err := g.Reset(t.Context(), stored, compaction.SessionRef{AppName: app, UserID: user, SessionID: "s"}, guard.ResetOptions{AddUSD: 10 * call}); err != nil {
		t.Fatal(err)
	}
	say(false)
	if err := stored.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCostsCompareTheEventsWithTheGuard(t *testing.T) {
	t.Parallel()
	f := open(t, guarded(t))
	c, err := audit.Prices{}.Costs(t.Context(), f, find(t, f, "s"), 1)
	if err != nil {
		t.Fatal(err)
	}
	call := nanos(t, "gemini-2.5-flash", 1000, 0, 100)
	want := audit.Spent{Calls: 7, Usage: tokens.Usage{PromptTokens: 7000, OutputTokens: 700}, USD: 7 * call}
	if c.Ledger == nil || c.Ledger.Total != want {
		t.Errorf("guard %+v, want %+v", c.Ledger, want)
	}
	// The events do not name the model; the guard's totals name only one.
	if want.Calls, want.Usage, want.USD = 5, (tokens.Usage{PromptTokens: 5000, OutputTokens: 500}), 5*call; c.Total != want || !c.Models[0].Assumed {
		t.Errorf("events %+v, want %+v", c.Total, want)
	}
	if want := fmt.Sprintf("the guard counted 2 calls more, 2000 prompt tokens more, 200 output tokens more, %v more: calls of agents in AgentTools", 2*call); !strings.HasPrefix(c.Difference, want) {
		t.Errorf("difference %q, want %q", c.Difference, want)
	}
	if got := c.Ledger.Difference(c.Total, 2); !strings.HasSuffix(got, "more: it counts answers without usage by estimates") {
		t.Errorf("with two answers without usage: %q", got)
	}
	var stops []string
	for _, s := range c.Stops {
		if s.Stop != nil {
			stops = append(stops, s.Stop.String())
		} else {
			stops = append(stops, s.Reset)
		}
	}
	if got, want := strings.Join(stops, "; "), fmt.Sprintf("cost_ceiling of the session: %v of %v; added %v", 4*call, 4*call, 10*call); got != want {
		t.Errorf("stops %q, want %q", got, want)
	}
}

func TestHistoryShowsStopsAndResets(t *testing.T) {
	t.Parallel()
	f := open(t, guarded(t))
	s := find(t, f, "s")
	pagesAreAnnotatedAlike(t, f, s)
	for _, from := range []int64{0, 6} { // a page that begins behind the stop does not repeat it
		a, err := audit.Annotate(t.Context(), f, s, from)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for row, err := range f.Rows(t.Context(), s, from, -1) {
			if err != nil {
				t.Fatal(err)
			}
			e := a.Entry(row)
			for _, b := range audit.Blocks(&e) {
				if b.Kind == "spent" || b.Kind == "stop" || b.Kind == "reset" {
					got = append(got, fmt.Sprintf("#%d %s: %s", e.Seq, b.Title, b.Text))
				}
				if b.Kind == "state" {
					t.Errorf("#%d shows the state %s", e.Seq, b.Text)
				}
			}
		}
		call := nanos(t, "gemini-2.5-flash", 1000, 0, 100)
		stop := fmt.Sprintf("#6 stopped: cost_ceiling of the session: %v of %v", 4*call, 4*call)
		text := strings.Join(got, "\n")
		if strings.Count(text, "stopped:") != 1 || strings.Count(text, "reset:") != 1 || !strings.Contains(text, stop) ||
			!strings.Contains(text, fmt.Sprintf("#8 reset: added %v", 10*call)) || !strings.Contains(text, fmt.Sprintf("spent so far: %v in 7 model calls", 7*call)) {
			t.Errorf("from %d:\n%s\nwant %q", from, text, stop)
		}
	}
	a, err := audit.Annotate(t.Context(), f, s, 8)
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range f.Rows(t.Context(), s, 8, 1) {
		if e := a.Entry(row); err != nil || e.Stop != nil || e.Reset == "" {
			t.Errorf("#%d: stop %v, reset %q, %v", e.Seq, e.Stop, e.Reset, err)
		}
	}
}

func TestVerifyChecksTheTotalsOfAGuard(t *testing.T) {
	t.Parallel()
	const set = `UPDATE events SET actions = json_set(actions, '$.state_delta."longsession:guard"', %s || '') WHERE seq = 4`
	const old = `json_extract(actions, '$.state_delta."longsession:guard"')`
	for name, c := range map[string]struct{ damage, want string }{
		"fine":             {"SELECT 1", ""},
		"not JSON":         {fmt.Sprintf(set, `'x' || char(27)`), "the guard's totals cannot be read: "},
		"a number":         {strings.Replace(fmt.Sprintf(set, `7`), " || ''", "", 1), "the guard's totals cannot be read: "},
		"absurd":           {fmt.Sprintf(set, `replace(`+old+`, '"total":[', '"total":[99999999999999999')`), "the guard's totals cannot be read: "},
		"negative":         {fmt.Sprintf(set, `json_set(`+old+`, '$.total[0]', -1)`), "the guard's totals cannot be read: "},
		"another session":  {fmt.Sprintf(set, `json_set(`+old+`, '$.session', 'other')`), `the guard's totals are those of the session "shop/ada/other": they were copied or forged`},
		"less than before": {fmt.Sprintf(set, `json_set(`+old+`, '$.total[0]', 1, '$.total[1]', 1, '$.total[3]', 1, '$.total[4]', 1, '$.models[0].total[0]', 1, '$.models[0].total[1]', 1, '$.models[0].total[3]', 1, '$.models[0].total[4]', 1)`), "the model calls fell from 2 to 1 since event 3, but totals only grow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := guarded(t)
			run(t, path, c.damage)
			f := open(t, path)
			all, err := f.Sessions(t.Context(), audit.Narrow{})
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			if _, err := f.Verify(t.Context(), all, 5, func(one audit.Finding) error {
				if one.Rule == audit.RuleGuard {
					found += fmt.Sprintf("%d %s\n", one.Seq, one.Text)
				}
				return nil
			}, func(*audit.Session) {}); err != nil {
				t.Fatal(err)
			}
			if c.want == "" && found != "" || !strings.Contains(found, c.want) || c.want != "" && !strings.HasPrefix(found, "4 ") {
				t.Errorf("found %q, want %q", found, c.want)
			}
			if _, err := (audit.Prices{}).Costs(t.Context(), f, all[0], 3); err != nil {
				t.Error(err)
			}
		})
	}
}

// State that was copied from another session is in no event.
func TestVerifyFindsTotalsThatASessionWasCreatedWith(t *testing.T) {
	t.Parallel()
	path := guarded(t)
	f := open(t, path)
	var text string
	for row, err := range f.Rows(t.Context(), find(t, f, "s"), 0, -1) {
		if value, is := row.Event.Actions.StateDelta[guard.StateKey].(string); err == nil && is {
			text = value
		}
	}
	s := writing(t, path)
	for id, value := range map[string]any{"copied": text, "damaged": "{", "number": 5} {
		if _, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: id, State: map[string]any{guard.StateKey: value}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f = open(t, path)
	for id, want := range map[string]string{"copied": `are those of the session "shop/ada/s"`, "damaged": "cannot be read", "number": "cannot be read", "s": ""} {
		one := find(t, f, id)
		if (one.Ledger != nil) != (id == "s") {
			t.Errorf("%s: ledger %+v", id, one.Ledger)
		}
		found := ""
		if _, err := f.Verify(t.Context(), []*audit.Session{one}, 5, func(one audit.Finding) error { found += one.Text; return nil }, func(*audit.Session) {}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(found, want) || want == "" && found != "" {
			t.Errorf("%s: found %q, want %q", id, found, want)
		}
	}
}

// An app may end turns with an event instead of an error.
func TestHistoryKnowsAStopByItsErrorCode(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", "q").Agent("i", "desk", "a")
	h.Last().ErrorCode, h.Last().ErrorMessage = "wall_time", "stopped by the guard"
	f := open(t, built(t, h))
	a, err := audit.Annotate(t.Context(), f, find(t, f, ""), 0)
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range f.Rows(t.Context(), find(t, f, ""), 2, -1) {
		e := a.Entry(row)
		line, _ := json.Marshal(e.Stop)
		if err != nil || string(line) != `{"kind":"wall_time"}` {
			t.Errorf("stop %s, %v", line, err)
		}
	}
}

// The query of docs/schema.md about money gives the totals of the guard.
func TestSQLSumsTheTotalsOfAGuard(t *testing.T) {
	t.Parallel()
	text := bytesOf(t, "../../../../docs/schema.md")
	at := strings.LastIndex(text[:strings.Index(text, "'longsession:guard'")], "```sql")
	query, _, _ := strings.Cut(text[at+len("```sql"):], "```")
	db, err := sql.Open("sqlite", guarded(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var app, user, unpriced sql.NullString
	var sessions, calls int
	var usd float64
	if err := db.QueryRowContext(t.Context(), query).Scan(&app, &user, &sessions, &calls, &usd, &unpriced); err != nil {
		t.Fatal(err)
	}
	if want := 7 * nanos(t, "gemini-2.5-flash", 1000, 0, 100); app.String != "shop" || user.String != "ada" || sessions != 1 || calls != 7 || usd != want.USD() || unpriced.Valid {
		t.Errorf("%v/%v: %d sessions, %d calls, %v USD, unpriced %v", app, user, sessions, calls, usd, unpriced)
	}
}

// A stop is shown with the event that reached the bound, and not with later ones that store it too.
func TestHistoryShowsAStopOnce(t *testing.T) {
	t.Parallel()
	path := guarded(t)
	run(t, path, "UPDATE events SET actions = (SELECT actions FROM events WHERE seq = 6) WHERE seq = 7")
	f := open(t, path)
	c, err := audit.Prices{}.Costs(t.Context(), f, find(t, f, "s"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Stops) != 2 || c.Stops[0].Seq != 6 || c.Stops[1].Seq != 8 || c.Stops[1].Reset == "" {
		t.Errorf("stops %+v", c.Stops)
	}
}
