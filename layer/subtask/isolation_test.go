package subtask_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/subtask"
)

// Each word of the parent's turns, its instruction, its tools and its state is searched in each request of the
// subtask, system prompt included. The words are such that neither ADK nor the subtask's prompt has them.
func TestNoWordOfTheParentReachesASubtask(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			svc := store.Open(t)
			child := newLLM(small, func(n int, _ *model.LLMRequest) *model.LLMResponse {
				if n == 0 {
					return call("look", map[string]any{"ask": "shelf"})
				}
				return say("the gadget is on shelf nine")
			})
			look := function(t, "look", func(ctx agent.ToolContext, _ question) (map[string]any, error) {
				must(t, ctx.State().Set("user:leak", "quokka"))
				must(t, ctx.State().Set("app:leak", "quokka"))
				must(t, ctx.State().Set("own", "kept"))
				return map[string]any{"found": "shelf nine"}, nil
			})
			p, a := delegating(t, svc, child, subtask.Spec{
				Name: "finder", System: "Find the gadget. Keep {user:secret} and {own} as they are.", Message: "Where is the gadget?", Tools: []tool.Tool{look},
			}, nil)
			_, err := svc.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "ada", SessionID: "main", State: map[string]any{
				"user:secret": "wombat platypus", "app:banner": "ocelot lynx", "mood": "marmoset tamarin",
			}})
			must(t, err)
			llm := p.llm
			p.llm = says(large, say("capybara aardvark pangolin noted"))
			for i := range 5 {
				p.say(fmt.Sprintf("flamingo pelican heron number%d", i))
			}
			p.llm = llm
			p.say("toucan macaw kiwi")

			secret := words(t, p.get("main"), "wombat platypus ocelot lynx marmoset tamarin zebra coordinator")
			asked := words(t, nil, "Where is the gadget delegate ask done shelf nine on look found answer")
			searched := 0
			requests := child.seen()
			if len(requests) != 2 {
				t.Fatalf("the subtask has made %d model calls, want 2", len(requests))
			}
			for _, req := range requests {
				if !strings.Contains(req, "Keep {user:secret} and {own} as they are.") {
					t.Errorf("the system prompt is not as it was given: %s", req)
				}
				for _, word := range secret {
					if slices.Contains(asked, word) {
						continue
					}
					searched++
					if regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(word) + `\b`).MatchString(req) {
						t.Errorf("the parent's %q is in a request of the subtask: %s", word, req)
					}
				}
			}
			if searched < 2*20 {
				t.Errorf("only %d words were searched", searched)
			}

			if got := a.only(t).Text; got != "the gadget is on shelf nine" {
				t.Errorf("the answer is %q", got)
			}
			main := p.get("main")
			for key, value := range main.State().All() {
				if strings.Contains(key, "leak") || key == "own" || value == "quokka" {
					t.Errorf("the subtask's state %s = %v is in the parent's session", key, value)
				}
			}
			ids := p.children()
			if len(ids) != 1 {
				t.Fatalf("the subtasks have the sessions %q, want one", ids)
			}
			if own, err := p.get(ids[0]).State().Get("own"); err != nil || own != "kept" {
				t.Errorf("the subtask's own state is %v, %v", own, err)
			}
			for ev := range main.Events().All() {
				if ev.Author == "finder" {
					t.Errorf("an event of the subtask is in the parent's session: %v", ev.Content)
				}
			}
		})
	}
}

// words returns the words of all texts in a session, and those of more text.
func words(t *testing.T, s session.Session, more string) []string {
	t.Helper()
	text := more
	if s != nil {
		for ev := range s.Events().All() {
			for _, part := range parts(ev.Content) {
				text += " " + part.Text
			}
		}
	}
	all := regexp.MustCompile(`\w{3,}`).FindAllString(text, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

func parts(c *genai.Content) []*genai.Part {
	if c == nil {
		return nil
	}
	return c.Parts
}

// The session of a subtask has its parent's ID and the call's, and is linked by its state as well.
func TestASubtaskHasASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			p, a := delegating(t, store.Open(t), says(small, say("seven")), subtask.Spec{Name: "sum", Message: "3 + 4?"}, nil)
			p.say("go")
			id := ""
			for ev := range p.get("main").Events().All() {
				for _, part := range parts(ev.Content) {
					if part.FunctionCall != nil {
						id = part.FunctionCall.ID
					}
				}
			}
			got := a.only(t)
			if want := subtask.SessionID("main", id); id == "" || got.SessionID != want || want != "main:sub:"+id {
				t.Errorf("the session is %q, want %q", got.SessionID, want)
			}
			s := p.get(got.SessionID)
			if link, ok := subtask.LinkOf(s); !ok || link != (subtask.Link{Parent: "main", Call: id, Name: "sum"}) {
				t.Errorf("the link is %+v, %v", link, ok)
			}
			if _, ok := subtask.LinkOf(p.get("main")); ok {
				t.Error("the parent's session is taken for a subtask's")
			}
			var texts []string
			for ev := range s.Events().All() {
				for _, part := range parts(ev.Content) {
					texts = append(texts, ev.Author+": "+part.Text)
				}
			}
			if want := []string{"user: 3 + 4?", "sum: seven"}; !slices.Equal(texts, want) {
				t.Errorf("the session has %q, want %q", texts, want)
			}
			if got.Truncated || got.Stopped != nil || got.ParentModel || got.Model != small {
				t.Errorf("the result is %+v", got)
			}
		})
	}
}
