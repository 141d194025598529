package oracle

import (
	"reflect"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// scopeField is where an event has its isolation scope, nil for ADK v1, which has none.
var scopeField = func() []int {
	f, _ := reflect.TypeFor[session.Event]().FieldByName("IsolationScope")
	return f.Index
}()

// scopeMark stands between the branch and the scope in a lane.
const scopeMark = "\x1f"

// scopeOf returns the isolation scope of an event, "" for none.
func scopeOf(ev *session.Event) string {
	if ev == nil || scopeField == nil {
		return ""
	}
	return reflect.ValueOf(ev).Elem().FieldByIndex(scopeField).String()
}

// laneOf returns the lane of an event, as the Branch of a record has it: the event's branch, and its isolation scope if it
// has one.
func laneOf(ev *session.Event) string {
	if scope := scopeOf(ev); scope != "" {
		return ev.Branch + scopeMark + scope
	}
	return ev.Branch
}

// sees reports whether an agent in one lane sees the events of another: in the same scope, those of its own branch, of the
// branches above it and of none, and all if it has no branch itself.
func sees(reader, lane string) bool {
	reader, scope, _ := strings.Cut(reader, scopeMark)
	branch, within, _ := strings.Cut(lane, scopeMark)
	return scope == within && (reader == "" || branch == "" || reader == branch || strings.HasPrefix(reader, branch+"."))
}

// tasks are the calls that gave tasks to agents: they stay open until they are answered, whatever the user says meanwhile.
// The ID of such a call is the isolation scope of the events of its task, and its name that of the agent. A task without an
// event is known by an event of its agent in another scope, or by another call of the same name, or in the same event.
type tasks struct {
	names map[string]bool
	with  map[int]bool // by position
}

func tasksIn(events []*session.Event) tasks {
	t := tasks{map[string]bool{}, map[int]bool{}}
	scopes := map[string]bool{}
	for _, ev := range events {
		if conversation(ev) {
			scopes[scopeOf(ev)] = true
			if scopeOf(ev) != "" && ev.Author != "user" {
				t.names[ev.Author] = true
			}
		}
	}
	delete(scopes, "")
	if len(scopes) == 0 {
		return t
	}
	for i, ev := range events {
		for _, id := range CallIDs(ev) {
			if scopes[id] {
				t.names[lastCall(ev, id).Name], t.with[i] = true, true
			}
		}
	}
	return t
}

// give reports whether a call in the event at a position is one of them.
func (t tasks) give(i int, call *genai.FunctionCall) bool { return t.with[i] || t.names[call.Name] }

// lastCall returns the last call of an ID in an event.
func lastCall(ev *session.Event, id string) (last *genai.FunctionCall) {
	eachPart(ev, func(part *genai.Part) {
		if part.FunctionCall != nil && part.FunctionCall.ID == id {
			last = part.FunctionCall
		}
	})
	return last
}
