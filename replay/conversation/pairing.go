package conversation

import (
	"fmt"

	"google.golang.org/genai"
)

// noResult is the error in place of a result that the recording does not have.
const noResult = "the recording has no result for this call"

// pairing finds the call of each result. Providers reuse IDs, and some recordings have none, so an
// ID means the newest answer that uses it. For example,
//
//	step 0 calls a, and its result is a
//	step 1 calls a and a, and its results are a and a
//
// pairs the first result with step 0, the second with the first call of step 1, and the third with
// the second.
type pairing struct {
	calls []*call
	// byID has, for each ID, the calls of the newest step that uses it.
	byID map[string]*group
	// byName has, for each name, the groups that may have an open call. Under "" are the groups of
	// all calls.
	byName map[string][]*group
	// last has the newest call of each name.
	last map[string]*call
}

// call is a function call of the conversation, with its response once there is one.
type call struct {
	*genai.FunctionCall
	step     int // index in builder.ends
	response *genai.FunctionResponse
}

// group is calls of one step, in order.
type group struct {
	step  int
	calls []*call
	next  int // all calls before it have a response
}

// waiting returns the first call without a response, or nil.
func (g *group) waiting() *call {
	for ; g.next < len(g.calls); g.next++ {
		if c := g.calls[g.next]; c.response == nil {
			return c
		}
	}
	return nil
}

// call registers a call of a step.
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

// wait adds a call to the newest group of a name.
func (p *pairing) wait(name string, c *call) {
	groups := p.byName[name]
	if len(groups) == 0 || groups[len(groups)-1].step != c.step {
		groups = append(groups, &group{step: c.step})
	}
	g := groups[len(groups)-1]
	g.calls = append(g.calls, c)
	p.byName[name] = groups
}

// callsIn reports whether this step, the newest, has calls.
func (p *pairing) callsIn(step int) bool {
	return len(p.calls) > 0 && p.calls[len(p.calls)-1].step == step
}

// answer assigns a result to its call.
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

// find returns the call of a result: the first open one, or else the newest with its ID or name,
// whose result it replaces. It returns nil if there is none.
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

// finishCalls gives every call a unique ID, a name and a response.
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

// nameCalls replaces missing and repeated IDs. For example, the IDs a, a, "" and a-1 become a, a-2,
// call-1 and a-1: a replacement is never an ID that the recording uses.
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
