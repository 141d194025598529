package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/prompt/agentsmd"
)

// project is a folder with an AGENTS.md that a test may edit.
type project struct {
	t   *testing.T
	dir string
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{t, t.TempDir()}
	if err := os.Mkdir(filepath.Join(p.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write("# House rules\n\nWrite {tests} first. Keep functions short.\n")
	return p
}

func (p *project) write(text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, "AGENTS.md"), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) loader() *agentsmd.Loader {
	l := agentsmd.NewLoader(p.dir)
	l.Global = ""
	return l
}

// editable is a source whose text a test may change.
type editable struct{ text atomic.Pointer[string] }

func (c *editable) set(text string) { c.text.Store(&text) }

// Text implements [prompt.Source].
func (c *editable) Text(context.Context) (string, error) {
	if text := c.text.Load(); text != nil {
		return *text, nil
	}
	return "", nil
}

// sent is what one request had in front of its end.
type sent struct{ instruction, tools, contents []string }

func sentOf(t *testing.T, req *model.LLMRequest) sent {
	t.Helper()
	text := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var s sent
	if req.Config != nil {
		s.instruction, s.tools = []string{text(req.Config.SystemInstruction)}, []string{text(req.Config.Tools)}
	}
	for _, content := range req.Contents {
		s.contents = append(s.contents, text(content))
	}
	return s
}

// brokenAt returns where a request breaks the prefix of the one before it, "" if it extends that.
func (s sent) brokenAt(before sent) string {
	switch {
	case strings.Join(s.instruction, "") != strings.Join(before.instruction, ""):
		return "instruction"
	case strings.Join(s.tools, "") != strings.Join(before.tools, ""):
		return "tools"
	}
	for i, content := range before.contents {
		if i >= len(s.contents) || s.contents[i] != content {
			return "contents"
		}
	}
	return ""
}

// Every layer together, over 50 turns in a window of 32,000 tokens: 200 tools, an AGENTS.md and memories that
// change, a scratchpad and a status, summaries, masks. Each request is one that a strict provider accepts and
// fits into the window; each byte of each result is read back; each break of the prefix is reported with its
// cause and section, and there are no others.
func TestEveryLayerTogetherOver50Turns(t *testing.T) {
	t.Parallel()
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("with restarts: ", restarts), func(t *testing.T) {
			t.Parallel()
			var s spy
			var memories, scratchpad, status editable
			rules := newProject(t)
			memories.set("Ada likes tea.")
			a := newToolApp(t, inMemory(t), single, func(a *toolApp) {
				withCatalog(a)
				s.on(a)
				a.cfg.Prompt = prompt.Config{Project: rules.loader(), Memories: &memories, Scratchpad: &scratchpad, Status: &status}
			})
			breaks, instructions := map[string]int{}, map[string]bool{}
			var last *sent
			watch := func() {
				a.workers[0].each = func(req *model.LLMRequest) {
					now := sentOf(t, req)
					instructions[now.instruction[0]] = true
					if last != nil {
						if at := now.brokenAt(*last); at != "" {
							breaks[at]++
						}
					}
					last = &now
				}
			}
			watch()
			for turn := range 50 {
				switch turn {
				case 15:
					memories.set("Ada likes coffee now.")
				case 30:
					rules.write("# House rules\n\nNo tests on Fridays.\n")
				case 25:
					if restarts {
						a.reopen()
						watch()
						last = nil // a new process has nothing to compare with
					}
				}
				scratchpad.set(fmt.Sprintf("Step %d of 10.", turn/5))
				status.set(fmt.Sprintf("Build %d is green.", turn/7))
				a.play(1)
			}
			if n := a.summaries(); n == 0 {
				t.Error("no summary was written: the test shows too little")
			}
			if n := len(instructions); n != 3 {
				t.Errorf("%d different instructions were sent, want 3: the first, and one for each change", n)
			}
			if err := a.stack.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			independent, reported := 0, 0
			for _, n := range breaks {
				independent += n
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, n := range s.causes {
				reported += n
			}
			t.Logf("breaks %v, reported %v, largest %d, %+v", breaks, s.causes, a.seen.largest, a.sought())
			if independent != reported {
				t.Errorf("%d breaks of the prefix %v, and %d were reported %v", independent, breaks, reported, s.causes)
			}
			for _, want := range []string{"instruction changed " + "memories", "instruction changed " + "project"} {
				if s.causes[want] != 1 {
					t.Errorf("%q was reported %d times, want once: %v", want, s.causes[want], s.causes)
				}
			}
			for cause := range s.causes {
				if strings.HasPrefix(cause, "other") || strings.HasPrefix(cause, "late answer") {
					t.Errorf("a break has the cause %q: %v", cause, s.causes)
				}
			}
		})
	}
}

// Every result is read back by the reference that the model saw, with all layers at work and in a new process.
func TestEveryResultIsReadBackWithEveryLayer(t *testing.T) {
	t.Parallel()
	eachShape(t, inMemory, func(t *testing.T, s shape, newApp func(func(*toolApp)) *toolApp) {
		rules := newProject(t)
		a := newApp(func(a *toolApp) {
			withCatalog(a)
			a.cfg.Prompt = prompt.Config{Project: rules.loader(), Scratchpad: prompt.Text("Step 1 of 3."), Status: prompt.Text("All is well.")}
		})
		a.play(4)
		a.reopen()
		a.play(4)
		a.checkWorked(s.texts)
		project := false
		for _, request := range a.seen.requests {
			project = project || strings.Contains(request, "Keep functions short")
		}
		if !project {
			t.Error("no request has the text of AGENTS.md")
		}
	})
}

// The sections at the end of a request are stored with the events that carry them, so what storage has is what
// was sent, and a request of a new process has them, too.
func TestWhatSectionsAddIsInStorage(t *testing.T) {
	t.Parallel()
	a := newToolApp(t, inMemory(t), single, func(a *toolApp) {
		a.cfg.Prompt = prompt.Config{Status: prompt.Text("Build 7 is green.")}
	})
	a.play(1)
	got, err := a.inner.Get(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for ev := range got.Session.Events().All() {
		if data, _ := json.Marshal(ev.Content); strings.Contains(string(data), "Build 7 is green.") {
			found++
			if ev.Content.Role != genai.RoleUser {
				t.Errorf("the status is in an event of %s", ev.Content.Role)
			}
		}
	}
	if found == 0 {
		t.Error("the status is in no event")
	}
	if !strings.Contains(a.seen.requests[0], "Build 7 is green.") {
		t.Error("the first request does not have the status")
	}
}
