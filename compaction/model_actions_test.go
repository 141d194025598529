package compaction_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// actions are what can happen to the session. "" is looked at after each.
func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":                       m.check,
		"a turn":                 func(t *rapid.T) { m.ask(t); m.answer(t) },
		"a question":             m.ask,
		"an answer":              m.answer,
		"a tool call":            m.call,
		"a tool response":        m.respond,
		"a round of tools":       func(t *rapid.T) { m.call(t); m.respond(t) },
		"a forged record":        m.forge,
		"compact by hand":        m.compact,
		"open a handle":          m.open,
		"another process":        m.join,
		"a process ends":         m.restart,
		"a crash before a store": m.crash,
		"storage lies":           func(t *rapid.T) { m.anyProcess(t).disk.lies = 1 },
		"a record of a stranger": m.stranger,
		"delete":                 m.remove,
	}
}

var branchesOfModel = []string{"", "", "", "root.a", "root.b"}

// event finishes the newest event of the history and appends it through some handle.
func (m *machine) event(t *rapid.T) {
	ev := m.history.Last()
	ev.ID = fmt.Sprint("e", m.version+1)
	switch rapid.IntRange(0, 9).Draw(t, "clock") {
	case 0: // stands still
	case 1:
		if !m.durable { // there a clock that runs backwards reorders the session
			m.clock = m.clock.Add(-time.Minute)
		}
	default:
		m.clock = m.clock.Add(time.Second)
	}
	ev.Timestamp = m.clock
	m.append(t, m.anyHandle(t), ev)
}

func (m *machine) invocation() string { return fmt.Sprint("inv", m.turn) }

func (m *machine) words(who string) string {
	return fmt.Sprintf("The %s says that the code is %s and says it in as many words as it takes, so that a summary is shorter than what it stands for.", who, compactiontest.Fact(m.version+1))
}

func (m *machine) agent(t *rapid.T, branch string) string {
	if branch != "" {
		return strings.TrimPrefix(branch, "root.")
	}
	return rapid.SampledFrom([]string{"agent", "agent", "helper"}).Draw(t, "agent")
}

func (m *machine) ask(t *rapid.T) {
	m.turn++
	m.history.Branch("").User(m.invocation(), m.words("user"))
	m.event(t)
}

func (m *machine) answer(t *rapid.T) {
	branch := rapid.SampledFrom(branchesOfModel).Draw(t, "branch")
	m.history.Branch(branch).Agent(m.invocation(), m.agent(t, branch), m.words("agent"))
	m.event(t)
}

func (m *machine) call(t *rapid.T) {
	branch := rapid.SampledFrom(branchesOfModel).Draw(t, "branch")
	agent := m.agent(t, branch)
	var ids []string
	for range rapid.IntRange(1, 2).Draw(t, "parallel") {
		m.calls++
		// Some providers count from one in every request.
		id := rapid.SampledFrom([]string{fmt.Sprint("c", m.calls), "1"}).Draw(t, "id")
		ids = append(ids, id)
		m.pending = append(m.pending, pending{id, agent, branch, m.invocation()})
	}
	m.history.Branch(branch).Call(m.invocation(), agent, "tool", ids...)
	if rapid.IntRange(0, 4).Draw(t, "long-running") == 0 {
		m.history.Long(ids...)
	}
	m.event(t)
}

// respond answers a call: at once, in a later turn, or in the user's name.
func (m *machine) respond(t *rapid.T) {
	if len(m.pending) == 0 {
		t.Skip("no call is open")
	}
	n := len(m.pending) - 1 - min(len(m.pending)-1, rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "which"))
	call := m.pending[n]
	switch rapid.IntRange(0, 5).Draw(t, "who") {
	case 0:
		m.turn++
		m.history.Branch("").Response(m.invocation(), "user", "tool", m.words("user"), call.id)
	default:
		m.history.Branch(call.branch).Response(call.invocation, call.agent, "tool", m.words("tool"), call.id)
	}
	if rapid.IntRange(0, 5).Draw(t, "once more") > 0 {
		m.pending = slices.Delete(m.pending, n, n+1)
	}
	m.event(t)
}

// forge appends an event that claims to be a record, with words of its own or without.
func (m *machine) forge(t *rapid.T) {
	h := m.anyHandle(t)
	forged := m.history.Record("forged", compactiontest.IDs(h.raw)...)
	m.history.Branch("").Agent(m.invocation(), "agent", m.words("agent"))
	m.history.Last().CustomMetadata = forged.CustomMetadata
	if rapid.Bool().Draw(t, "silent") {
		m.history.Last().Content = nil
	}
	m.event(t)
}

func (m *machine) compact(t *rapid.T) {
	p := m.anyProcess(t)
	keep := rapid.IntRange(1, 2).Draw(t, "keep")
	var err error
	if rapid.IntRange(0, 3).Draw(t, "checkpoint") == 0 {
		_, err = p.svc.Checkpoint(m.ctx, ref, compaction.CheckpointOptions{KeepRecent: keep})
	} else {
		_, err = p.svc.Compact(m.ctx, ref, compaction.CompactOptions{KeepRecent: keep})
	}
	if err != nil {
		t.Fatalf("Compact: %v", err)
	}
}

func (m *machine) open(t *rapid.T) {
	h := m.get(t, m.anyProcess(t))
	if len(m.handles) < 4 {
		m.handles = append(m.handles, h)
		return
	}
	m.handles[rapid.IntRange(0, 3).Draw(t, "instead of")] = h
}

func (m *machine) join(t *rapid.T) {
	if len(m.processes) > 1 {
		t.Skip("two are enough")
	}
	m.handles = append(m.handles, m.get(t, m.start(t)))
}

// restart ends a process, with all its handles and all that it remembers, and begins another.
func (m *machine) restart(t *rapid.T) {
	p := m.anyProcess(t)
	m.count(t, p)
	m.processes = slices.DeleteFunc(m.processes, func(other *process) bool { return other == p })
	m.handles = slices.DeleteFunc(m.handles, func(h *handle) bool { return h.by == p })
	m.handles = append(m.handles, m.get(t, m.start(t)))
}

// crash lets summaries be written that are never stored. The process may survive that.
func (m *machine) crash(t *rapid.T) {
	p := m.anyProcess(t)
	p.disk.broken = true
	asked := p.disk.failed
	_, err := p.svc.Compact(m.ctx, ref, compaction.CompactOptions{KeepRecent: 1})
	if refused := p.disk.failed > asked; refused != (err != nil) {
		t.Fatalf("a store was refused: %t, and Compact returned %v", refused, err)
	} else if refused {
		m.seen.crashes++
	}
	p.disk.broken = false
	if rapid.Bool().Draw(t, "dies") {
		m.restart(t)
	}
}

// stranger stores a record past every process: a good one, as an older version or another program may,
// or one that cannot be read.
func (m *machine) stranger(t *rapid.T) {
	resp, err := m.inner.Get(m.ctx, getRequest())
	if err != nil {
		t.Fatal(err)
	}
	branch := rapid.SampledFrom(branchesOfModel).Draw(t, "branch")
	id := fmt.Sprint("stranger", m.seen.strangers)
	h := compactiontest.History{Events: eventsOf(resp.Session)}
	var covered, absorbed []string
	for _, ev := range h.Events {
		r, _ := record.From(ev)
		switch {
		case ev.Branch != branch || rapid.IntRange(0, 2).Draw(t, "take") > 0:
		case r != nil:
			absorbed = append(absorbed, r.RecordID)
		default:
			covered = append(covered, ev.ID)
		}
	}
	switch {
	case len(absorbed) > 0 && rapid.Bool().Draw(t, "merge"):
		h.Merge(id, absorbed...)
	case len(covered) > 0:
		h.Compact(id, covered...)
	default:
		t.Skip("nothing to summarize")
	}
	h.Amend(func(r *record.Metadata) {
		text, _ := r.Text()
		r.CompactedTokens = tokens.Estimate(text) + promptsize.EventOverhead
	})
	ev := h.Last()
	ev.Timestamp = resp.Session.LastUpdateTime()
	switch rapid.IntRange(0, 4).Draw(t, "broken") {
	case 0:
		ev.CustomMetadata[record.Key].(map[string]any)["version"] = 2.0
	case 1:
		ev.CustomMetadata[record.Key] = "{"
	}
	if err := m.inner.AppendEvent(m.ctx, resp.Session, ev); err != nil {
		t.Fatal(err)
	}
	m.seen.strangers++
}

// remove deletes the session and creates it anew. All handles are worthless then.
func (m *machine) remove(t *rapid.T) {
	if m.durable || rapid.IntRange(0, 3).Draw(t, "really") > 0 {
		t.Skip("not now")
	}
	if err := m.anyProcess(t).svc.Delete(m.ctx, &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	m.seen.deleted++
	m.create(t)
}
