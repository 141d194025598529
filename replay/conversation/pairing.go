package conversation

import (
	"fmt"

	"google.golang.org/genai"
)

// noResult stands for a result that the recording does not hold.
const noResult = "the recording has no result for this call"

// pairing finds the call that a result belongs to. Providers reuse IDs, and some recordings have none.
type pairing struct {
	calls []*call
	// byID has the newest answer's calls of an ID; byName all that may still wait, by name, and under ""
	// those of every name.
	byID   map[string]*group
	byName map[string][]*group
	// last has the newest call of each name.
	last map[string]*call
}

type call struct {
	*genai.FunctionCall
	step     int
	response *genai.FunctionResponse
}

// group is calls of one step, in order.
type group struct {
	step  int
	calls []*call
	next  int // all before it are answered
}

func (g *group) waiting() *call {
	for ; g.next < len(g.calls); g.next++ {
		if c := g.calls[g.next]; c.response == nil {
			return c
		}
	}
	return nil
}

// call takes note of a call in a step.
func (p *pairing) call(function *genai.FunctionCall, step int) {
	if p.byID == nil {
		p.byID, p.byName, p.last = map[string]*group{}, map[string][]*group{}, map[string]*call{}
	}
	c := &call{FunctionCall: function, step: step}
	p.calls = append(p.calls, c)
	p.last[c.Name] = c
	if c.ID != "" {
		g := p.byID[c.ID]
		if g == nil || g.step != step {
			g = &group{step: step}
			p.byID[c.ID] = g
		}
		g.calls = append(g.calls, c)
	}
	p.wait("", c)
	if c.Name != "" {
		p.wait(c.Name, c)
	}
}

func (p *pairing) wait(name string, c *call) {
	groups := p.byName[name]
	if len(groups) == 0 || groups[len(groups)-1].step != c.step {
		groups = append(groups, &group{step: c.step})
	}
	g := groups[len(groups)-1]
	g.calls = append(g.calls, c)
	p.byName[name] = groups
}

// callsIn reports whether the newest step calls anything.
func (p *pairing) callsIn(step int) bool {
	return len(p.calls) > 0 && p.calls[len(p.calls)-1].step == step
}

// answer gives a result to its call.
func (p *pairing) answer(r result, notes *notes) error {
	c := p.find(r)
	if c == nil {
		err := errorAt(r.column, "a result for tool_call_id %q (name %q), which no message before it calls; expected the call first", r.ID, r.Name)
		return inMessage(err, r.place)
	}
	if c.response != nil {
		notes.add("results left out because a later one answers the same call", 1)
	}
	c.response = r.FunctionResponse
	return nil
}

func (p *pairing) find(r result) *call {
	if r.ID != "" {
		g := p.byID[r.ID]
		if g == nil {
			return nil
		}
		if c := g.waiting(); c != nil {
			return c
		}
		return g.calls[len(g.calls)-1]
	}
	groups := p.byName[r.Name]
	for len(groups) > 0 {
		if c := groups[len(groups)-1].waiting(); c != nil {
			return c
		}
		groups = groups[:len(groups)-1]
		p.byName[r.Name] = groups
	}
	if r.Name == "" {
		return nil
	}
	return p.last[r.Name]
}

// finishCalls gives every call an ID of its own, a name and a response.
func (b *builder) finishCalls() {
	b.nameCalls()
	for _, c := range b.calls {
		if c.response == nil {
			b.rec.notes.add(`calls without a result, given {"error": "`+noResult+`"}`, 1)
			c.response = &genai.FunctionResponse{Response: map[string]any{"error": noResult}}
		}
		if c.response.Response == nil {
			c.response.Response = map[string]any{}
		}
		c.response.ID, c.response.Name = c.ID, c.Name
		end := b.ends[c.step]
		s := &b.c.Turns[end.turn].Steps[end.step]
		s.Responses = append(s.Responses, c.response)
	}
}

func (b *builder) nameCalls() {
	taken, used, next := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, c := range b.calls {
		taken[c.ID] = true
	}
	for _, c := range b.calls {
		if c.Name == "" {
			c.Name = "tool"
			b.rec.notes.add("calls without a name, named tool", 1)
		}
		if c.Args == nil {
			c.Args = map[string]any{}
		}
		stem := c.ID
		switch {
		case stem == "":
			stem = "call"
			b.rec.notes.add("calls without an ID, given one", 1)
		case used[stem]:
			b.rec.notes.add("calls with the ID of an earlier one, given another", 1)
			next[stem] = max(next[stem], 1)
		default:
			used[stem] = true
			continue
		}
		for taken[c.ID] {
			next[stem]++
			c.ID = fmt.Sprintf("%s-%d", stem, next[stem])
		}
		taken[c.ID], used[c.ID] = true, true
	}
}
