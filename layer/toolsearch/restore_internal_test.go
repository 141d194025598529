package toolsearch

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
)

// early sends a request through the plugin's part.
func (d *Deferral) early(req *model.LLMRequest) {
	d.request(&outgoing{early: true, ctx: context.Background(), who: caller{agent: "bot", model: "m"}, req: req})
}

func TestWhatCallbacksDoBehindThePluginCounts(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{Bridge, Promote} {
		d := newDeferral(t, Config{Category: mcp, Mode: mode})
		tools := append([]fixed{takes("own_a", ""), takes("own_b", ""), takes("own_c", "")}, fromServers()...)
		search, urls := &genai.Tool{GoogleSearch: &genai.GoogleSearch{}}, &genai.Tool{URLContext: &genai.URLContext{}}
		changed := takes("own_b", `{"type":"object","properties":{"more":{"type":"string"}}}`).decl
		added := takes("own_d", "")
		// change is what callbacks do.
		change := func(req *model.LLMRequest) {
			functions := req.Config.Tools[0]
			functions.FunctionDeclarations = slices.DeleteFunc(functions.FunctionDeclarations, func(d *genai.FunctionDeclaration) bool { return d.Name == "own_a" })
			functions.FunctionDeclarations[0] = changed
			functions.FunctionDeclarations = append(functions.FunctionDeclarations, added.decl)
			req.Tools["own_d"] = added
			req.Config.Tools = append(slices.DeleteFunc(req.Config.Tools, func(t *genai.Tool) bool { return t == search }), urls)
		}
		made := func() *model.LLMRequest {
			req := request(tools...)
			req.Config.Tools = append(req.Config.Tools, search)
			req.Contents = []*genai.Content{user("Hello."), said(call("", "git_status", nil)), got(answer("", "git_status", nil))}
			return req
		}
		plain, plugged := made(), made()
		change(plain)
		d.early(plugged)
		if got := declaredNames(plugged); slices.Contains(got, "git_log") {
			t.Fatalf("%s: the plugin has not deferred: %v", mode, got)
		}
		change(plugged)
		d.pass(plain)
		d.request(&outgoing{ctx: t.Context(), who: caller{agent: "bot", model: "m"}, req: plugged})
		if diff := cmp.Diff(asJSON(t, plain), asJSON(t, plugged)); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
		if got := declaredNames(plain); got[0] != "own_b" || got[2] != "own_d" || slices.Contains(got, "own_a") {
			t.Errorf("%s: %v are declared", mode, got)
		}
		if len(plain.Tools) != len(plugged.Tools) {
			t.Errorf("%s: %d tools are dispatched, want %d", mode, len(plugged.Tools), len(plain.Tools))
		}
	}
}

// broken is a session that panics.
type broken struct{ session.Session }

func TestAFailureLeavesTheRequestAsItWas(t *testing.T) {
	t.Parallel()
	var seen []Observation
	d := newDeferral(t, Config{Category: mcp, Observer: func(_ context.Context, o Observation) {
		seen = append(seen, o)
		panic("an observer")
	}})
	req := request(fromServers()...)
	before, tools := asJSON(t, req), len(req.Tools)
	d.request(&outgoing{ctx: t.Context(), who: caller{agent: "bot", model: "m"}, session: broken{}, req: req})
	if asJSON(t, req) != before || len(req.Tools) != tools {
		t.Error("the request has changed")
	}
	if err := d.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Kind != Failed || seen[0].Err == nil || !strings.Contains(seen[0].Reason, "all declarations") {
		t.Errorf("%+v", seen)
	}
	// The app's function may panic, too. Its tools then count as the app's own.
	panicked := newDeferral(t, Config{Category: func(tool.Tool) Category { panic("a category") }})
	if got := declaredNames(panicked.pass(request(fromServers()...))); len(got) != 200 {
		t.Errorf("%d tools are declared", len(got))
	}
}
