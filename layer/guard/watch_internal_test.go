package guard

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
)

func mustWatch(t *testing.T) *watch {
	t.Helper()
	w, err := newWatch(watchdog.Config{})
	if err != nil || w == nil {
		t.Fatal(err)
	}
	return w
}

func event(invocation, branch, author string, parts ...*genai.Part) *session.Event {
	ev := &session.Event{InvocationID: invocation, Branch: branch, Author: author}
	ev.Content = &genai.Content{Role: genai.RoleModel, Parts: parts}
	return ev
}

func callOf(id, name string) *genai.Part {
	return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: name}}
}

func responseTo(id, name string) *genai.Part {
	return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name, Response: map[string]any{"result": "x"}}}
}

// An agent that gives a task waits for its response, while the task calls tools in a scope of its own.
func TestATasksCallsAreApartFromTheCallThatGaveIt(t *testing.T) {
	t.Parallel()
	in := func(lane string, parts ...*genai.Part) *session.Event {
		ev := event("i", "", "a", parts...)
		adk.SetLane(ev, lane)
		return ev
	}
	task := adk.JoinLane("", "task")
	w := mustWatch(t)
	var got []string
	for _, ev := range []*session.Event{
		in("", callOf("1", "give")), in(task, callOf("2", "x")), in(task, responseTo("2", "x")), in("", responseTo("1", "give")),
	} {
		if s, whole := w.step(ev, caller{}); whole {
			got = append(got, fmt.Sprintf("%q %s", s.Branch, s.Calls[0].Tool))
		}
	}
	if want := []string{fmt.Sprintf("%q x", task), `"" give`}; !slices.Equal(got, want) {
		t.Errorf("got the steps %q, want %q", got, want)
	}
}

// Placeholders of long-running calls and calls that wait for somebody are no calls with a result.
func TestCallsThatWaitAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name     string
		asked    *session.Event
		answered *session.Event
		want     string
	}{
		{"one call", event("i", "", "a", callOf("1", "x")), event("i", "", "a", responseTo("1", "x")), "[x]"},
		{"another invocation", event("i", "", "a", callOf("1", "x")), event("j", "", "a", responseTo("1", "x")), "[]"},
		{"another branch", event("i", "b", "a", callOf("1", "x")), event("i", "c", "a", responseTo("1", "x")), "[]"},
		{"another call", event("i", "", "a", callOf("1", "x")), event("i", "", "a", responseTo("2", "x")), "[]"},
		{"a call without a response", event("i", "", "a", callOf("1", "x"), callOf("2", "y")), event("i", "", "a", responseTo("2", "y")), "[y]"},
		{"a nil response", event("i", "", "a", callOf("1", "x")), event("i", "", "a", &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "1", Name: "x"}}), "[]"},
		{"a question to the user", event("i", "", "a", callOf("1", toolconfirmation.FunctionCallName), callOf("2", "y")), event("i", "", "a", responseTo("1", toolconfirmation.FunctionCallName), responseTo("2", "y")), "[y]"},
		{"our own stop", event("i", "", "a", callOf("1", stopToolName)), event("i", "", "a", responseTo("1", stopToolName)), "[]"},
		{"a call of the user", event("i", "", "user", callOf("1", "x")), event("i", "", "a", responseTo("1", "x")), "[]"},
		{"nil parts", event("i", "", "a", nil, callOf("1", "x")), event("i", "", "a", nil, responseTo("1", "x")), "[x]"},
	} {
		w := mustWatch(t)
		if s, whole := w.step(r.asked, caller{}); whole {
			t.Errorf("%s: the calls alone are the step %+v", r.name, s)
		}
		s, _ := w.step(r.answered, caller{})
		got := []string{}
		for _, c := range s.Calls {
			got = append(got, c.Tool)
		}
		if fmt.Sprint(got) != r.want {
			t.Errorf("%s: %v, want %s", r.name, got, r.want)
		}
	}

	w := mustWatch(t)
	asked := event("i", "", "a", callOf("1", "x"), callOf("2", "y"))
	asked.LongRunningToolIDs = []string{"1"}
	w.step(asked, caller{})
	if s, _ := w.step(event("i", "", "a", responseTo("1", "x"), responseTo("2", "y")), caller{}); len(s.Calls) != 1 || s.Calls[0].Tool != "y" {
		t.Errorf("a placeholder counts: %+v", s.Calls)
	}
	w.step(event("i", "", "a", callOf("1", "x"), callOf("2", "y")), caller{})
	confirmed := event("i", "", "a", responseTo("1", "x"), responseTo("2", "y"))
	confirmed.Actions.RequestedToolConfirmations = map[string]toolconfirmation.ToolConfirmation{"2": {}}
	if s, _ := w.step(confirmed, caller{}); len(s.Calls) != 1 || s.Calls[0].Tool != "x" {
		t.Errorf("a call that waits for a confirmation counts: %+v", s.Calls)
	}
}

// Damaged events are no steps.
func TestDamagedEventsAreNoSteps(t *testing.T) {
	t.Parallel()
	w := mustWatch(t)
	for _, ev := range []*session.Event{{}, event("i", "", "a"), event("i", "", "a", nil), event("i", "", "a", &genai.Part{Text: "  "}), event("i", "", "user", &genai.Part{Text: "hello"})} {
		if s, whole := w.step(ev, caller{}); whole {
			t.Errorf("%+v is the step %+v", ev, s)
		}
	}
}

// An ended run leaves nothing behind, and neither do those that never end.
func TestEndedRunsAreForgotten(t *testing.T) {
	t.Parallel()
	w := mustWatch(t)
	for i := range 3_000 {
		w.step(event(fmt.Sprint(i), "", "a", callOf("1", "x")), caller{})
	}
	if n := w.asked.Len(); n != maxAsked {
		t.Errorf("%d events wait", n)
	}
	w.step(event("i", "b", "a", callOf("1", "x")), caller{})
	s, _ := w.step(event("i", "b", "a", responseTo("1", "x")), caller{})
	w.dog.Observe(s)
	w.step(event("i", "b", "a", callOf("2", "x")), caller{})
	waiting := w.asked.Len()
	w.end("i")
	if n := w.asked.Len(); n != waiting-1 || w.dog.Lanes() != 0 {
		t.Errorf("%d events wait, and %d branches are followed", n, w.dog.Lanes())
	}
	var off *watch
	off.end("i")
	if w, err := newWatch(watchdog.Config{Mode: watchdog.Off}); w != nil || err != nil {
		t.Errorf("off is %v, %v", w, err)
	}
}
