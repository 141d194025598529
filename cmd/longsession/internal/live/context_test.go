package live_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/live"
)

// TestAnAnswerLeadsToWhatTheModelSaw: the first prompts of a long session have no summary, and none of what came later.
func TestAnAnswerLeadsToWhatTheModelSaw(t *testing.T) {
	t.Parallel()
	h := serve(t, live.Config{Path: file(t, 30)})
	body := ask(t, h, page("conversation", "from", "1")).body
	links := regexp.MustCompile(`<a href="([^"]*at=(\d+)[^"]*)">what the model saw</a>`).FindAllStringSubmatch(body, -1)
	if len(links) < 20 || links[0][2] != "2" || links[1][2] != "4" {
		t.Fatalf("%d links, the first are %v", len(links), links[:min(3, len(links))])
	}
	early := ask(t, h, html.UnescapeString(links[3][1])) // the second answer of turn 2
	early.has(t, "what the model saw when it answered with", "in turn 2", "parcel 1001", "shelf 1", "Not stored, and so not shown: instructions", `<strong>8</strong>`)
	early.lacks(t, "parcel 1002", "Summary of an earlier part", "in summary", "data-live")
	late := ask(t, h, page("context", "at", "turn30"))
	late.has(t, "Summary of an earlier part", "in turn 30", "The provider counted")
	if !strings.Contains(ask(t, h, page("session")).body, `aria-label="Turn 30: what the model saw"`) {
		t.Error("the table of the turns does not lead to the prompts")
	}
}

func TestAPromptThatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	h := serve(t, live.Config{Path: file(t, 2)})
	for at, says := range map[string]string{"99": "has no event 99", "turn3": "has no turn 3", "<b>": "neither the number of an event"} {
		if got := ask(t, h, page("context", "at", at)); got.code != http.StatusNotFound || !strings.Contains(got.body, says) || strings.Contains(got.body, "<b>") {
			t.Errorf("at %s: %d\n%s", at, got.code, got.body)
		}
	}
}

func TestTheCurveHasTheEventOfEachCall(t *testing.T) {
	t.Parallel()
	h := serve(t, live.Config{Path: file(t, 2)})
	if got := ask(t, h, page("curve")); !strings.Contains(got.body, `"seqs":[4,8]`) {
		t.Error(got.body)
	}
}

func TestAClickOnACallInABrowserOpensItsPrompt(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	server := httptest.NewServer(serve(t, live.Config{Path: file(t, 60)}))
	t.Cleanup(server.Close)
	b.look(1000, "light", true)
	b.open(server.URL + page("session"))
	b.until(`document.querySelectorAll(".chart canvas").length === 2`)
	at := eval[[]float64](b, `(() => { const r = document.querySelector("#size .u-over").getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`)
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}, nil)
	}
	b.until(`location.pathname === "/context" && document.querySelector("#top-pager")?.textContent.includes("what the model saw when it answered with event")`)
	b.clean(server.URL)
}
