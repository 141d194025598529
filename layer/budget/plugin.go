package budget

import (
	"google.golang.org/adk/agent"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/notes"
)

// pluginName is the name of [Meter.Plugin]. ADK refuses two plugins of one name.
const pluginName = "longsession-budget"

// Plugin returns the plugin that shows the model how full its context window is. From Thresholds.Note
// on, once for each further 5%, it writes a short note into the newest tool result, under context_status:
//
//	[Context: 83% used. You can call compact_context to free space before continuing with large operations.]
//
// If the model is not offered a tool named compact_context, the note only asks it to avoid large results.
// The note is stored with the result, so it is in all later requests too and never breaks their prefix.
// The share is that of the agent's last request, so the agents' models must be wrapped with
// [Meter.Model].
//
// The plugin also keeps tools from running while [Meter.Model] builds a request again. Without it, a
// request is not built again in a run that begins with the user's approval of a tool.
//
// The plugin answers no callback, except for such a tool, so plugins behind it see every event. It writes
// nothing in live runs and in runs of an agent as a tool, which no plugin sees.
func (m *Meter) Plugin() *plugin.Plugin {
	p, err := plugin.New(plugin.Config{
		Name: pluginName, OnEventCallback: m.onEvent, BeforeRunCallback: m.guardRun, BeforeToolCallback: m.guardTool,
	})
	if err != nil {
		panic("budget: plugin.New refuses a name and callbacks: " + err.Error()) // ADK never does
	}
	return p
}

// onEvent writes the note, if one is due, into an event of tool results before it is stored.
func (m *Meter) onEvent(ctx agent.InvocationContext, ev *session.Event) (*session.Event, error) {
	// A panic here would reach the caller of Run.
	defer m.places.Survive("budget: an event")
	if ev == nil || ev.Partial || ev.Content == nil || m.cfg.Thresholds.Note <= 0 || adk.IsNil(ctx) || adk.IsNil(ctx.Session()) {
		return nil, nil
	}
	if ctx.RunConfig() == nil {
		return nil, nil // a live run: another goroutine is sending the event to the model
	}
	s := ctx.Session()
	ref := adk.RefOf(s)
	c := caller{ref: ref, agent: ev.Author, branch: adk.Lane(ev), invocation: ev.InvocationID}
	note, budget := m.noteFor(c, ev)
	if note == "" {
		return nil, nil
	}
	o := c.observation(Noted)
	o.Budget, o.Reason = budget, note
	m.observe(ctx, o)
	return nil, nil
}

// noteFor writes a note into an event and returns it, "" if none is due or the event has no place for
// one.
func (m *Meter) noteFor(c caller, ev *session.Event) (string, Budget) {
	state, known := m.callers.Peek(c.key())
	if !known || !hasResponse(ev) {
		return "", Budget{}
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	if !state.last.sent {
		return "", Budget{}
	}
	share := float64(state.last.used) / float64(max(1, state.last.budget.EffectiveWindow()))
	before := state.note
	if !state.note.due(share, m.cfg.Thresholds.Note) {
		return "", Budget{}
	}
	note := noteText(share, state.last.canCompact)
	if !notes.Context.Into(ev.Content, note, adk.IsExempt) {
		state.note = before
		return "", Budget{}
	}
	return note, state.last.budget
}

func hasResponse(ev *session.Event) bool {
	for _, p := range ev.Content.Parts {
		if p != nil && p.FunctionResponse != nil {
			return true
		}
	}
	return false
}
