package audit_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// used sets what the provider reported with the newest event.
func used(h *ct.History, model string, prompt, cached, output int32) *ct.History {
	h.Last().ModelVersion = model
	h.Last().UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: prompt, CachedContentTokenCount: cached, CandidatesTokenCount: output}
	return h
}

// family returns a file with a session of two agents and a summary, a session of each of two subtasks
// of its, and one of a subtask whose parent was deleted.
func family(t *testing.T) string {
	t.Helper()
	h := &ct.History{}
	h.User("i1", "Which files mention it?")
	used(h.Call("i1", "desk", "agentic_grep", "c1"), "gemini-2.5-flash", 1000, 400, 100)
	h.Response("i1", "desk", "agentic_grep", "two", "c1")
	used(h.Agent("i1", "desk", "Two files."), "gemini-2.5-flash", 2000, 0, 10)
	h.User("i2", "And who wrote them?")
	used(h.Call("i2", "clerk", "agentic_research", "c:sub:2"), "gemini-2.5-pro", 3000, 0, 20)
	h.Response("i2", "clerk", "agentic_research", "Ada", "c:sub:2")
	used(h.Agent("i2", "clerk", "Ada."), "", 4000, 0, 30)
	h.User("i3", "Thanks.").Agent("i3", "desk", "You are welcome.")
	h.Compact("r1", "e1", "e2", "e3", "e4").Amend(func(m *record.Metadata) {
		m.Model, m.Usage = "gemini-2.5-flash", record.Usage{PromptTokens: 500, OutputTokens: 50}
	})
	task := func(model string, prompt int32) []*session.Event {
		h := (&ct.History{}).User("j", "Look.")
		return used(h.Agent("j", "worker", "Seen."), model, prompt, 0, 5).Events
	}
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := writing(t, path)
	create(t, s, user, "order-1", h.Events...)
	create(t, s, user, "order-1:sub:c1", task("gemini-2.5-flash", 700)...)
	create(t, s, user, "order-1:sub:c:sub:2", task("gemini-2.5-flash", 900)...)
	create(t, s, user, "gone:sub:c1", task("house-model", 100)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func nanos(t *testing.T, model string, prompt, cached, output int) tokens.Nano {
	t.Helper()
	m, known := tokens.Lookup(model)
	if !known || !m.Priced() {
		t.Fatalf("%s has no price", model)
	}
	return m.Nanos(tokens.Usage{PromptTokens: prompt, CachedTokens: cached, OutputTokens: output})
}

func TestCostsAddUpByModelAgentTurnAndSubtask(t *testing.T) {
	t.Parallel()
	f := open(t, family(t))
	s := find(t, f, "order-1")
	c, err := audit.Prices{}.Costs(t.Context(), f, s, 2)
	if err != nil {
		t.Fatal(err)
	}
	flash, pro := "gemini-2.5-flash", "gemini-2.5-pro"
	desk := nanos(t, flash, 3000, 400, 110)
	clerk := nanos(t, pro, 3000, 0, 20)
	tasks := nanos(t, flash, 700, 0, 5) + nanos(t, flash, 900, 0, 5)
	summary := nanos(t, flash, 500, 0, 50)
	var got []string
	say := func(what string, s audit.Spent) { got = append(got, fmt.Sprint(what, " ", s.Calls, s.USD, s.Unpriced)) }
	want := func(what string, calls int, usd tokens.Nano, unpriced int) string {
		return fmt.Sprint(what, " ", calls, usd, unpriced)
	}
	say("total", c.Total)
	for _, m := range c.Models {
		say("model "+m.Model, m.Spent)
	}
	for _, a := range c.Agents {
		say("agent "+a.Agent, a.Spent)
	}
	say("subtasks", c.Subtasks)
	for _, task := range c.Tasks {
		say("task "+task.ID, task.Total)
	}
	say("summaries", c.Summaries)
	say("checkpoints", c.Checkpoints)
	for _, turn := range c.Turns {
		say(fmt.Sprintf("turn %s #%d", turn.InvocationID, turn.Seq), turn.Spent)
	}
	wanted := []string{
		want("total", 7, desk+clerk+tasks+summary, 1),
		want("model gemini-2.5-pro", 1, clerk, 0),
		want("model gemini-2.5-flash", 5, desk+tasks+summary, 0),
		want("model ", 1, 0, 1),
		want("agent clerk", 2, clerk, 1),
		want("agent desk", 2, desk, 0),
		want("subtasks", 2, tasks, 0),
		want("task order-1:sub:c:sub:2", 1, nanos(t, flash, 900, 0, 5), 0),
		want("task order-1:sub:c1", 1, nanos(t, flash, 700, 0, 5), 0),
		want("summaries", 1, summary, 0),
		want("checkpoints", 0, 0, 0),
		want("turn i2 #6", 2, clerk, 1),
		want("turn i1 #2", 2, desk, 0),
	}
	if clerk < tasks+desk { // models are sorted by cost
		wanted[1], wanted[2] = wanted[2], wanted[1]
	}
	if g, w := strings.Join(got, "\n"), strings.Join(wanted, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if c.Uncounted != 1 || c.Unreadable != 0 || c.Total.Usage != (tokens.Usage{PromptTokens: 12100, CachedTokens: 400, OutputTokens: 220}) {
		t.Errorf("%d uncounted, %d unreadable, usage %+v", c.Uncounted, c.Unreadable, c.Total.Usage)
	}
	sum := c.Subtasks.Add(c.Summaries).Add(c.Checkpoints)
	for _, a := range c.Agents {
		sum = sum.Add(a.Spent)
	}
	if sum != c.Total {
		t.Errorf("the parts are %+v, the total %+v", sum, c.Total)
	}
}

// A price is never 0 because it is not known.
func TestUnknownPricesAreSaidAndCanBeGiven(t *testing.T) {
	t.Parallel()
	f := open(t, family(t))
	own, err := tokens.NewRegistry(tokens.Model{Name: "house-model", InputPrice: 2, OutputPrice: 10})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		prices audit.Prices
		id     string
		want   string
		usd    tokens.Nano
	}{
		"model without a price": {audit.Prices{}, "gone:sub:c1", `[{"model":"house-model","calls":1,"prompt_tokens":100,"cached_tokens":0,"output_tokens":5,"usd":0,"unpriced_calls":1}]`, 0},
		"priced as another":     {audit.Prices{As: "gemini-2.5-pro"}, "gone:sub:c1", `"priced_as":"gemini-2.5-pro"`, nanos(t, "gemini-2.5-pro", 100, 0, 5)},
		"own price":             {audit.Prices{Registry: own}, "gone:sub:c1", `"unpriced_calls":0`, 100*2000 + 5*10000},
		"model assumed":         {audit.Prices{Model: "gemini-2.5-pro"}, "order-1", `{"model":"gemini-2.5-pro","assumed":true,"calls":1,`, 0},
	} {
		got, err := c.prices.Costs(t.Context(), f, find(t, f, c.id), 1)
		if err != nil {
			t.Fatal(err)
		}
		models, err := json.Marshal(got.Models)
		if err != nil || !strings.Contains(string(models), c.want) {
			t.Errorf("%s: models %s (%v), want %s", name, models, err, c.want)
		}
		if c.usd != 0 && got.Total.USD != c.usd {
			t.Errorf("%s: cost %d, want %d", name, got.Total.USD, c.usd)
		}
	}
}

// Any number may be in a file. Sums stay at the greatest value instead of going below zero.
func TestAbsurdUsageDoesNotOverflow(t *testing.T) {
	t.Parallel()
	const most = 1<<31 - 1
	h := (&ct.History{}).User("i", "q")
	for range 6 {
		used(h.Agent("i", "bot", "a"), "m", most, most, most)
		h.Last().UsageMetadata.ToolUsePromptTokenCount = most
	}
	used(h.Agent("i", "bot", "a"), "m", -5, -5, -5)
	f := open(t, built(t, h))
	dear, err := tokens.NewRegistry(tokens.Model{Name: "m", InputPrice: 1e6, OutputPrice: 1e6})
	if err != nil {
		t.Fatal(err)
	}
	c, err := audit.Prices{Registry: dear}.Costs(t.Context(), f, find(t, f, ""), 1)
	if err != nil {
		t.Fatal(err)
	}
	if c.Total.USD != 1<<63-1 || c.Total.Calls != 7 || c.Total.Usage.PromptTokens != 12*most || c.Turns[0].USD != c.Total.USD {
		t.Errorf("total %+v", c.Total)
	}
}

func TestSubtasksAreFoldedUnderTheirParent(t *testing.T) {
	t.Parallel()
	f := open(t, family(t))
	all, err := f.Sessions(t.Context(), audit.Narrow{})
	if err != nil {
		t.Fatal(err)
	}
	var heads, children []string
	for _, s := range audit.Heads(all) {
		heads = append(heads, fmt.Sprint(s.ID, s.Orphan()))
		for _, c := range s.Family() {
			children = append(children, c.ID+"<"+c.Parent+"|"+c.Call)
		}
	}
	if got := fmt.Sprint(heads, children); got != "[gone:sub:c1true order-1false] [gone:sub:c1<gone|c1 order-1<| order-1:sub:c1<order-1|c1 order-1:sub:c:sub:2<order-1|c:sub:2]" {
		t.Error(got)
	}
}
