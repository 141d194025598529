package chart_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/adk-go-ext/longsession/replay"
)

// hostile tries every way out of the places where text of a conversation stands.
const hostile = "\n" + `</script></pre></title></style></noscript><b>bold</b><script>alert(1)</script><img src="https://example.com/x" onerror=alert(1)>` +
	"\u2028\u2029\"'`${alert(1)}{{.}}<!--]]>&amp;\\"

// hostilePage has that text in every field that a conversation or a caller fills, and its twin has
// "x".
func hostilePage(t *testing.T, s string) (string, *html.Node) {
	t.Helper()
	r := made(s, s, 40, 8000)
	r.File = s
	r.Problems, r.Notes = []string{s}, []string{s}
	r.Over = []replay.Overlong{{Tokens: 1, Event: s}}
	r.Recorded = []replay.AtRecorded{{Trigger: s}}
	for i := range r.Compactions {
		r.Compactions[i].Summary, r.Compactions[i].Trigger, r.Compactions[i].Kind = s, s, s
	}
	twin := made(s, s+"2", 40, 4000)
	twin.File = s
	page := pageOf(r, twin)
	page.Title, page.Ran = s, []string{s}
	return write(t, page)
}

// outline is the page without its texts: what a text must never change.
func outline(root *html.Node) []string {
	var out []string
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			continue
		}
		line := fmt.Sprint(n.Type, n.Data)
		for _, a := range n.Attr {
			line += " " + a.Key
		}
		out = append(out, line)
	}
	return out
}

func TestNoTextOfAConversationBreaksOut(t *testing.T) {
	t.Parallel()
	raw, got := hostilePage(t, hostile)
	_, want := hostilePage(t, "x")
	a, b := outline(got), outline(want)
	if len(b) < 250 {
		t.Fatalf("the page has %d elements only: the test looks at nothing", len(b))
	}
	if len(a) != len(b) {
		t.Errorf("hostile text made %d elements of %d", len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("element %d is %q, with harmless text %q", i, a[i], b[i])
		}
	}
	summaries := all(got, named("pre"))
	if len(summaries) < 3 {
		t.Fatalf("%d summaries only", len(summaries))
	}
	for i, n := range summaries[:3] {
		if text(n) != hostile {
			t.Errorf("summary %d is shown as %q, it is %q", i, text(n), hostile)
		}
	}
	if names := all(got, named("option")); len(names) == 0 || text(names[0]) != hostile {
		t.Error("the policy's name is not shown as it is")
	}
	if strings.Contains(raw, "<script>alert") || strings.Contains(raw, "<b>bold") {
		t.Error("markup of the text stands in the page as markup")
	}
	if data := sections(t, got); len(data) != 1 || len(data[0]) != 2 {
		t.Errorf("the data cannot be read beside hostile text: %v", data)
	}
}

func TestThePageLoadsNothing(t *testing.T) {
	t.Parallel()
	_, root := hostilePage(t, hostile)
	links, ids := 0, map[string]bool{}
	for _, n := range all(root, func(*html.Node) bool { return true }) {
		ids[attribute(n, "id")] = true
	}
	for _, n := range all(root, func(*html.Node) bool { return true }) {
		for _, a := range n.Attr {
			switch a.Key {
			case "href":
				links++
				if n.Data != "a" || !strings.HasPrefix(a.Val, "#") || !ids[strings.TrimPrefix(a.Val, "#")] {
					t.Errorf("<%s href=%q> leads off the page, or nowhere", n.Data, a.Val)
				}
			case "src", "srcset", "data", "action", "poster", "background", "style":
				t.Errorf("<%s %s=%q> loads or styles something", n.Data, a.Key, a.Val)
			}
		}
		switch n.Data {
		case "link", "img", "iframe", "object", "embed", "base", "form", "svg":
			t.Errorf("there is a <%s>", n.Data)
		}
	}
	if links == 0 {
		t.Error("the index has no links: the test looks in the wrong place")
	}
	for _, n := range all(root, named("style")) {
		if css := text(n); strings.Contains(css, "url(") || strings.Contains(css, "@import") {
			t.Error("the style loads something")
		}
	}
}

func TestNothingButThePagesOwnScriptMayRun(t *testing.T) {
	t.Parallel()
	_, root := write(t, pageOf(made("harbour", "default", 60, 8000)))
	var policy string
	for _, n := range all(root, named("meta")) {
		if attribute(n, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(n, "content")
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("the policy of the page is %q", policy)
	}
	var programs int
	for _, n := range all(root, func(n *html.Node) bool {
		return n.Data == "style" || n.Data == "script" && attribute(n, "type") == ""
	}) {
		programs++
		s := sha256.Sum256([]byte(text(n)))
		if !strings.Contains(policy, n.Data+"-src 'sha256-"+base64.StdEncoding.EncodeToString(s[:])+"'") {
			t.Errorf("the policy does not allow the page's own <%s>: browsers would show bare tables", n.Data)
		}
	}
	if programs != 2 {
		t.Errorf("the page has %d scripts and styles, want one of each", programs)
	}
}

func TestTheScriptFindsWhatItLooksFor(t *testing.T) {
	t.Parallel()
	_, root := write(t, pageOf(made("harbour", "a", 40, 8000), made("harbour", "b", 40, 4000)))
	found := map[string]bool{}
	for _, n := range all(root, func(*html.Node) bool { return true }) {
		found[n.Data] = true
		found["#"+attribute(n, "id")] = true
		for _, c := range strings.Fields(attribute(n, "class")) {
			found["."+c] = true
		}
		for _, a := range n.Attr {
			found["["+a.Key+"]"] = true
		}
	}
	part := regexp.MustCompile(`[.#]?[a-z0-9]+|\[[a-z-]+\]`)
	looked := 0
	for _, file := range []string{"curve.js", "marks.js", "report.js"} {
		program, err := os.ReadFile(filepath.Join("assets", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`getElementById\("(\w+)"\)`).FindAllStringSubmatch(string(program), -1) {
			looked++
			if !found["#"+m[1]] {
				t.Errorf("%s looks for an element with the ID %s, there is none", file, m[1])
			}
		}
		for _, m := range regexp.MustCompile("querySelector(?:All)?\\(([\"'`])(.*?)[\"'`]\\)").FindAllStringSubmatch(string(program), -1) {
			looked++
			selector := regexp.MustCompile(`=.*?\]`).ReplaceAllString(m[2], "]")
			for _, p := range part.FindAllString(selector, -1) {
				if !found[p] {
					t.Errorf("%s looks for %s, and there is no %s", file, m[2], p)
				}
			}
		}
	}
	if looked < 8 {
		t.Errorf("found %d lookups in the scripts only: the test looks in the wrong place", looked)
	}
}

func TestAssetsAreAsPublished(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("assets", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\S+) \| uplot (1\.6\.\d+), \S+ \| ([0-9a-f]{64}) \|$`).FindAllStringSubmatch(string(readme), -1)
	if len(rows) != 3 {
		t.Fatalf("README.md lists %d files with their sums, want 3", len(rows))
	}
	for _, row := range rows {
		data, err := os.ReadFile(filepath.Join("assets", row[1]))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != row[3] {
			t.Errorf("%s has the sum %s, README.md says %s", row[1], got, row[3])
		}
		if strings.HasSuffix(row[1], ".js") && !strings.Contains(string(data[:80]), "(v"+row[2]+")") {
			t.Errorf("%s is not of version %s, which README.md names", row[1], row[2])
		}
	}
}

func TestThePageCarriesTheLicenceOfWhatItHolds(t *testing.T) {
	t.Parallel()
	out, _ := write(t, pageOf(made("harbour", "default", 60, 8000)))
	licence, err := os.ReadFile(filepath.Join("assets", "uPlot.LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, string(licence)) || !strings.Contains(string(licence), "Permission is hereby granted") {
		t.Error("the page holds uPlot without its licence")
	}
}
