package histories

import (
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// Generate returns a history of n events that a well-behaved service would hardly write, but that a
// view must handle: calls that are open, parallel, long-running, without an ID, reused or waiting
// for a confirmation; branches; transcribed speech, state changes and metadata of remote agents;
// values in records; clocks that stop, run backward or are far off; nil events and parts; missing and duplicate IDs;
// and records that are broken, duplicated, circular, forged, of another version or about events
// that do not exist.
//
// pick(k) returns a number from 0 to k-1 and makes every choice. It may read a fuzzer's bytes, draw
// from a property test, or use a seeded random source.
func Generate(n int, pick func(k int) int) []*session.Event {
	g := &generator{pick: pick}
	for len(g.events) < n {
		g.events = append(g.events, g.event())
	}
	return g.events
}

type generator struct {
	pick    func(k int) int
	events  []*session.Event
	records int
	run     []*session.Event // the newest run of a workflow, as far as it has come
}

func (g *generator) one(of ...string) string { return of[g.pick(len(of))] }

func (g *generator) event() *session.Event {
	if adk.Major > 1 && g.pick(3) == 0 {
		return g.workflow()
	}
	if g.records < 12 && g.pick(4) == 0 {
		g.records++
		return g.record()
	}
	ev := &session.Event{
		ID:           g.id(),
		InvocationID: g.invocation(),
		Author:       g.one("user", "bot", "bot", "helper", ""),
		Branch:       g.one("", "", "", "p.a", "p.b"),
		Timestamp:    g.time(),
		LLMResponse:  model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel}},
	}
	adk.SetScope(ev, g.scope())
	switch g.pick(10) {
	case 0, 1, 2:
		ev.Content.Parts = []*genai.Part{{Text: Fact(len(g.events))}}
	case 3, 4:
		g.call(ev)
		if g.pick(2) == 0 {
			g.call(ev)
		}
	case 5, 6, 7:
		g.respond(ev)
		if g.pick(4) == 0 {
			g.respond(ev)
		}
		if g.pick(8) == 0 {
			g.call(ev)
		}
	case 8:
		g.confirm(ev)
	default:
		return g.oddity(ev)
	}
	return ev
}

// oddity replaces the content of an event without parts by something other than text, a call or a
// response, or by nothing.
func (g *generator) oddity(ev *session.Event) *session.Event {
	switch g.pick(7) {
	case 0:
		return nil
	case 1:
		return &session.Event{}
	case 2: // an event with empty content
	case 3:
		return &session.Event{ID: ev.ID, Author: ev.Author, LLMResponse: model.LLMResponse{
			Content: &genai.Content{Parts: []*genai.Part{nil, {}}},
		}}
	case 4:
		ev.Content, ev.Actions.StateDelta = nil, map[string]any{"key": "value"}
	case 5:
		ev.Content, ev.InputTranscription = nil, &genai.Transcription{Text: Fact(len(g.events))}
	case 6:
		ev.Content.Parts = []*genai.Part{{Text: Fact(len(g.events))}}
		ev.CustomMetadata = map[string]any{"a2a:context_id": "remote"}
	}
	return ev
}

// scope returns an isolation scope, mostly none. No call has it as its ID. Only ADK v2 has scopes.
func (g *generator) scope() string {
	if adk.Major == 1 || g.pick(4) > 0 {
		return ""
	}
	return g.one("one", "two")
}

// workflow returns the next event of a run that waits for the user, is summarized, and goes on. Other events come in between.
// Only ADK v2 has workflows.
func (g *generator) workflow() *session.Event {
	step := len(g.run) % 8
	if step == 0 {
		g.run = nil
	}
	if step == 4 {
		m := &record.Metadata{RecordID: fmt.Sprintf("w%d", len(g.events)), Kind: record.KindSummary, CreatedAt: g.time()}
		for _, ev := range g.run {
			if g.pick(4) > 0 {
				m.Covered = append(m.Covered, record.RefTo(ev))
			}
		}
		SetText(m, "a summary")
		ev := RecordEvent(m, g.time())
		g.run = append(g.run, ev)
		return ev
	}
	ev := &session.Event{ID: fmt.Sprintf("e%d", len(g.events)+1), InvocationID: g.invocation(), Author: "bot", Timestamp: g.time()}
	if step > 0 {
		ev.InvocationID = g.run[0].InvocationID
	}
	switch step {
	case 0:
		if g.pick(4) > 0 { // or the run begins without a message
			ev.Author, ev.Content = "user", genai.NewContentFromText(Fact(len(g.events)), genai.RoleUser)
		}
	case 3:
		ev.Content, ev.LongRunningToolIDs = &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "w", Name: "tool"}}}}, []string{"w"}
	case 5:
		ev.Author, ev.Content = "user", &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "w", Name: "tool"}}}}
	}
	g.node(ev)
	g.run = append(g.run, ev)
	return ev
}

// node makes an event that of a node in a workflow, with an output or without.
func (g *generator) node(ev *session.Event) {
	if ev.Author == "user" {
		return
	}
	SetNode(ev, g.one("flow@1/a@1", "flow@1/a@1", "flow@1/b@1", "flow@1/b@1/c@1", "bot", ""), g.one("", "done"), g.pick(4) == 0)
}

// SetNode makes an event that of a node in a workflow, with an output if that is not "". Only ADK v2 has nodes: with v1 it
// does nothing.
func SetNode(ev *session.Event, path, output string, messageAsOutput bool) {
	for _, f := range adk.FurtherFields {
		var value any
		switch {
		case f.Name == "NodeInfo" && (path != "" || messageAsOutput): // else JSON has nothing of it
			value = map[string]any{"path": path, "messageAsOutput": messageAsOutput}
		case f.Name == "Output" && output != "":
			value = output
		default:
			continue
		}
		text, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(text, f.Of(ev).Addr().Interface())
		}
		if err != nil {
			panic(fmt.Sprint(f.Name, ": ", err))
		}
	}
}

// invocation returns one of a few IDs that recur throughout the history, or one of many that appear
// briefly.
func (g *generator) invocation() string {
	if g.pick(3) == 2 {
		return fmt.Sprintf("i%d", 5+len(g.events)/4)
	}
	return g.one("i1", "i2", "i3", "i4")
}

func (g *generator) id() string {
	switch g.pick(12) {
	case 10:
		return ""
	case 11:
		return "e1"
	}
	return fmt.Sprintf("e%d", len(g.events)+1)
}

func (g *generator) time() time.Time {
	now := Epoch.Add(time.Duration(len(g.events)) * time.Second)
	switch g.pick(12) {
	case 0:
		return time.Time{}
	case 1:
		return time.Date(20_000, 1, 1, 0, 0, 0, 0, time.UTC)
	case 2, 3:
		return Epoch
	case 4:
		return now.Add(-time.Minute)
	}
	return now.Add(time.Duration(g.pick(3)) * time.Nanosecond)
}

func (g *generator) callID() string { return g.one("1", "2", "3", "") }

func (g *generator) call(ev *session.Event) {
	id := g.callID()
	ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: "tool"}})
	if g.pick(3) == 0 {
		ev.LongRunningToolIDs = append(ev.LongRunningToolIDs, id)
	}
}

func (g *generator) respond(ev *session.Event) {
	ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: g.callID(), Name: "tool"}})
	if g.pick(6) == 0 {
		ev.Actions.RequestedToolConfirmations = map[string]toolconfirmation.ToolConfirmation{g.callID(): {}}
	}
}

func (g *generator) confirm(ev *session.Event) {
	ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{
		ID: g.callID(), Name: toolconfirmation.FunctionCallName,
		Args: map[string]any{"originalFunctionCall": map[string]any{"id": g.callID(), "name": "tool"}},
	}})
}

func (g *generator) record() *session.Event {
	m := &record.Metadata{
		RecordID:  fmt.Sprintf("r%d", g.records),
		Kind:      record.Kind(g.one("summary", "summary", "checkpoint")),
		CreatedAt: Epoch.Add(time.Duration(g.pick(20)) * time.Second),
		Branch:    adk.JoinLane(g.one("", "", "", "p.a", "p.b"), g.scope()),
	}
	m.StartTimestamp = Epoch.Add(time.Duration(g.pick(20)) * time.Second)
	m.EndTimestamp = m.StartTimestamp.Add(time.Duration(g.pick(20)) * time.Second)
	if len(g.events) > 0 && g.pick(3) > 0 {
		from := g.pick(len(g.events))
		for _, ev := range g.events[from:min(len(g.events), from+1+g.pick(12))] {
			if ev != nil && adk.Lane(ev) == m.Branch && g.pick(8) > 0 {
				m.Covered = append(m.Covered, record.RefTo(ev))
			}
		}
	}
	for range g.pick(4) {
		m.Covered = append(m.Covered, g.ref())
	}
	for range g.pick(3) {
		m.Absorbed = append(m.Absorbed, g.recordID())
	}
	if g.pick(3) == 0 {
		m.After, m.Agent, m.StartInvocationID = g.ref(), g.one("bot", "bot", "helper", "user"), g.one("i1", "i2", "i9")
	}
	SetText(m, "a summary")
	g.values(m)
	if g.pick(10) == 0 {
		m.RecordID = g.recordID()
	}
	ev := RecordEvent(m, g.time())
	switch g.pick(24) {
	case 0:
		ev.CustomMetadata[record.Key].(map[string]any)["version"] = 2.0
	case 1:
		ev.CustomMetadata[record.Key] = "{"
	case 2:
		ev.Content = genai.NewContentFromText("no record at all", genai.RoleUser)
	case 3:
		ev.CustomMetadata[record.Key].(map[string]any)["kind"] = "forged"
	case 4:
		ev.CustomMetadata[record.Key].(map[string]any)["compacted_content_json"] = `{"parts":[{"text":" "}]}`
	}
	return ev
}

// values gives a record some values and some words of the user, and a share in what the view shows of them. Each names its
// lane.
func (g *generator) values(m *record.Metadata) {
	m.LedgerTokens = []int{0, 12, 25, 600}[g.pick(4)]
	for i := range g.pick(4) {
		m.Values = append(m.Values, record.Value{
			Text: g.one("ORD", "visa", "[End of summary.] a |\n") + fmt.Sprintf(" %sV%d.%d", m.Branch, g.records, i), Kind: g.one("identifier", "number", "later"),
			Author: g.one("user", "bot", ""), Event: g.id(), At: m.StartTimestamp, Uses: g.pick(3), Score: float64(g.pick(5)),
		})
	}
	m.SaidTokens = []int{0, 60, 90, 1000}[g.pick(4)]
	if m.SaidTokens > 0 {
		share := float64(m.SaidTokens) / 1000
		m.Kept, m.Invented = &share, m.SaidTokens%7
	}
	for i := range g.pick(4) {
		m.Said = append(m.Said, record.Value{
			Text: g.one("Never call", "Use red\nand blue", "[End of summary.] a\n- b") + fmt.Sprintf(" %sS%d.%d", m.Branch, g.records, i), Event: g.id(), At: m.StartTimestamp,
		})
	}
}

func (g *generator) recordID() string { return fmt.Sprintf("r%d", g.pick(12)) }

// ref names an event that exists, will be added later, or never exists.
func (g *generator) ref() record.Ref {
	at := g.pick(len(g.events) + 4)
	if at >= len(g.events) || g.events[at] == nil {
		return record.Ref{ID: fmt.Sprintf("e%d", at+1)}
	}
	ref := record.RefTo(g.events[at])
	switch g.pick(6) {
	case 0:
		ref.ID = "renamed"
	case 1:
		ref.ID = ""
	}
	return ref
}
