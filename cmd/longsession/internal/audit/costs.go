package audit

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Costs is what a session cost, as its stored events show it: the usage that the provider reported,
// times the prices of a table.
type Costs struct {
	*Session
	// Total is all of it: agents, summaries, checkpoints, and the totals of the subtasks.
	Total Spent `json:"total"`
	// Models has the same by model, Agents the calls of the session's own agents. Both are sorted by
	// descending cost.
	Models []ModelCosts `json:"models"`
	Agents []AgentCosts `json:"agents"`
	// Summaries and Checkpoints are the calls that wrote the records of each kind.
	Summaries   Spent `json:"summaries"`
	Checkpoints Spent `json:"checkpoints"`
	// Subtasks is the sum over Tasks, the subtasks of the session.
	Subtasks Spent    `json:"subtasks"`
	Tasks    []*Costs `json:"tasks,omitempty"`
	// Turns are the dearest turns, the dearest first. A turn does not include the summaries that were
	// written after it.
	Turns []TurnCosts `json:"turns"`
	// Difference says how the totals of a guard differ from Total, and why that may be; empty if they do
	// not, or if there is no guard.
	Difference string `json:"difference,omitempty"`
	// Stops are the bounds that were reached, in order.
	Stops []StopEvent `json:"stops,omitempty"`
	// Uncounted counts answers of agents without usage: what they cost is in no event.
	Uncounted int `json:"uncounted"`
	// Unreadable counts events that cannot be read.
	Unreadable int `json:"unreadable"`
}

// ModelCosts are the calls of one model.
type ModelCosts struct {
	Priced
	Spent
}

// AgentCosts are the calls of one agent.
type AgentCosts struct {
	Agent string
	Spent
}

// TurnCosts are the calls of one turn.
type TurnCosts struct {
	InvocationID string
	// Seq and Time are those of its first call.
	Seq  int64
	Time string
	Spent
}

// StopEvent is a bound that was reached with an event, or the reset behind it.
type StopEvent struct {
	Seq   int64  `json:"seq"`
	Time  string `json:"time"`
	Stop  *Stop  `json:"stop,omitempty"`
	Reset string `json:"reset,omitempty"`
}

// MarshalJSON writes one flat object.
func (m ModelCosts) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Priced
		spentFields
	}{m.Priced, m.fields()})
}

// MarshalJSON writes one flat object.
func (a AgentCosts) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Agent string `json:"agent"`
		spentFields
	}{a.Agent, a.fields()})
}

// MarshalJSON writes one flat object.
func (t TurnCosts) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		InvocationID string `json:"invocation_id"`
		Seq          int64  `json:"seq"`
		Time         string `json:"time"`
		spentFields
	}{t.InvocationID, t.Seq, t.Time, t.fields()})
}

// Costs adds up what a session and its subtasks cost, and returns at most the given number of turns.
// It holds one page of events in memory at a time. If the guard's totals name one model only, that is
// the model of calls whose events name none.
func (p Prices) Costs(ctx context.Context, f *File, s *Session, turns int) (*Costs, error) {
	w := p.Follow()
	if _, err := w.Read(ctx, f, s, -1); err != nil {
		return nil, err
	}
	return w.Costs(s, turns), nil
}

// AllUnreadable counts the events that cannot be read, those of the subtasks included.
func (c *Costs) AllUnreadable() int {
	n := c.Unreadable
	for _, t := range c.Tasks {
		n += t.AllUnreadable()
	}
	return n
}

// fold adds the costs of a subtask.
func (c *Costs) fold(of *Costs) {
	c.Tasks = append(c.Tasks, of)
	c.Subtasks, c.Total = c.Subtasks.Add(of.Total), c.Total.Add(of.Total)
	for _, m := range of.Models {
		i := slices.IndexFunc(c.Models, func(have ModelCosts) bool { return have.Priced == m.Priced })
		if i < 0 {
			c.Models = append(c.Models, m)
		} else {
			c.Models[i].Spent = c.Models[i].Spent.Add(m.Spent)
		}
	}
}

func (c *Costs) sort() {
	slices.SortStableFunc(c.Models, func(a, b ModelCosts) int { return cmp.Or(dearer(a.Spent, b.Spent), strings.Compare(a.Model, b.Model)) })
	slices.SortStableFunc(c.Agents, func(a, b AgentCosts) int { return cmp.Or(dearer(a.Spent, b.Spent), strings.Compare(a.Agent, b.Agent)) })
	slices.SortStableFunc(c.Tasks, func(a, b *Costs) int { return dearer(a.Total, b.Total) })
}

// dearer sorts by descending cost and, where that is the same or not known, by descending usage.
func dearer(a, b Spent) int {
	return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(b.Usage.Total(), a.Usage.Total()), cmp.Compare(b.Calls, a.Calls))
}

// bill adds up the calls of one session.
type bill struct {
	prices     Prices
	total      Spent
	models     map[Priced]Spent
	agents     map[string]Spent
	turns      map[string]*TurnCosts
	kinds      map[record.Kind]Spent
	agentCalls int
	uncounted  int
	unreadable int
	stops      []StopEvent
}

func newBill(prices Prices) *bill {
	return &bill{prices: prices, models: map[Priced]Spent{}, agents: map[string]Spent{}, turns: map[string]*TurnCosts{}, kinds: map[record.Kind]Spent{}}
}

// take adds a stored event.
func (b *bill) take(row *sessionfile.Row) {
	ev := row.Event
	switch {
	case ev == nil:
		b.unreadable++
	case record.Is(ev):
		b.takeRecord(ev)
	case ev.UsageMetadata != nil && ev.Author != genai.RoleUser:
		s := b.charge(ev.ModelVersion, billed(ev.UsageMetadata))
		b.agentCalls++
		b.agents[ev.Author] = b.agents[ev.Author].Add(s)
		t := b.turns[ev.InvocationID]
		if t == nil {
			t = &TurnCosts{InvocationID: ev.InvocationID, Seq: row.Seq, Time: stamp(ev.Timestamp)}
			b.turns[ev.InvocationID] = t
		}
		t.Spent = t.Spent.Add(s)
	case modelAnswer(ev):
		b.uncounted++
	}
}

// takeRecord adds the call that wrote a record, if a model did.
func (b *bill) takeRecord(ev *session.Event) {
	m, err := record.From(ev)
	if err != nil || m == nil {
		return // verify reports it; it hides nothing and costs nothing that could be known
	}
	u := tokens.Usage{PromptTokens: max(0, m.Usage.PromptTokens), OutputTokens: max(0, m.Usage.OutputTokens)}
	if m.Model == "" && u == (tokens.Usage{}) {
		return // extractive
	}
	of := record.KindSummary
	if m.Kind == record.KindCheckpoint {
		of = record.KindCheckpoint
	}
	b.kinds[of] = b.kinds[of].Add(b.charge(m.Model, u))
}

// charge prices a call and adds it to the total and to its model.
func (b *bill) charge(model string, u tokens.Usage) Spent {
	of, s := b.prices.price(model, u)
	b.models[of] = b.models[of].Add(s)
	b.total = b.total.Add(s)
	return s
}

// modelAnswer reports whether an event has the content of an answer of a model: not a response of a
// tool, and not an empty event.
func modelAnswer(ev *session.Event) bool {
	if ev.Author == genai.RoleUser || ev.Partial || ev.Content == nil || ev.Content.Role != genai.RoleModel {
		return false
	}
	return slices.ContainsFunc(ev.Content.Parts, func(p *genai.Part) bool { return p != nil && p.FunctionResponse == nil })
}

func (b *bill) costs(s *Session, turns int) *Costs {
	c := &Costs{Session: s, Total: b.total, Models: []ModelCosts{}, Agents: []AgentCosts{}, Turns: []TurnCosts{},
		Summaries: b.kinds[record.KindSummary], Checkpoints: b.kinds[record.KindCheckpoint], Uncounted: b.uncounted, Unreadable: b.unreadable, Stops: b.stops}
	for of, spent := range b.models {
		c.Models = append(c.Models, ModelCosts{of, spent})
	}
	for agent, spent := range b.agents {
		c.Agents = append(c.Agents, AgentCosts{agent, spent})
	}
	for _, t := range b.turns {
		c.Turns = append(c.Turns, *t)
	}
	slices.SortFunc(c.Turns, func(a, b TurnCosts) int { return cmp.Or(dearer(a.Spent, b.Spent), cmp.Compare(a.Seq, b.Seq)) })
	c.Turns = c.Turns[:min(turns, len(c.Turns))]
	return c
}
