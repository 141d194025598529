package live_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/live"
)

// barriers lists what would keep people out: controls without names, text of low contrast, doubled ids, levels of headings
// that are skipped, tables without headings, parts that scroll and that the keyboard does not reach.
const barriers = `(() => {
	const found = [];
	const shown = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
	const name = e => (e.getAttribute("aria-label") || (e.getAttribute("aria-labelledby") && document.getElementById(e.getAttribute("aria-labelledby"))?.textContent) || e.textContent || e.title || "").trim();
	const what = e => e.outerHTML.slice(0, 120);
	if (!document.documentElement.lang) found.push("the page has no language");
	if (!document.title) found.push("the page has no title");
	if (document.querySelectorAll("h1").length !== 1 || document.querySelectorAll("main").length !== 1) found.push("not one h1 and one main");
	document.querySelectorAll("a, button, summary, nav, section, [role=region], [role=img], [role=group]").forEach(e => { if (shown(e) && !name(e)) found.push("no name: " + what(e)); });
	const ids = new Set();
	document.querySelectorAll("[id]").forEach(e => { if (ids.has(e.id)) found.push("doubled id: " + e.id); ids.add(e.id); });
	let level = 0;
	document.querySelectorAll("h1, h2, h3, h4").forEach(e => { if (!shown(e)) return; const l = +e.tagName[1]; if (l > level + 2) found.push("a level of headings is skipped: " + what(e)); level = l; });
	document.querySelectorAll("table").forEach(t => { if (shown(t) && !t.querySelector("th[scope=col]")) found.push("a table without headings: " + what(t)); });
	document.querySelectorAll("*").forEach(e => {
		const s = getComputedStyle(e);
		const scrolls = /auto|scroll/.test(s.overflowX + s.overflowY) && (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1);
		if (scrolls && shown(e) && e !== document.documentElement && e !== document.body && e.tabIndex < 0 && !e.querySelector("a, button")) found.push("the keyboard cannot scroll: " + what(e));
	});
	const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return [m[0], m[1], m[2], m.length > 3 ? m[3] : 1]; };
	const light = c => { const f = c.slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); }); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
	const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
	const seen = new Set();
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const e = n.parentElement;
		if (!n.data.trim() || !shown(e) || e.closest("script, style, noscript, .skip")) continue;
		const a = light(parse(getComputedStyle(e).color)), b = light(behind(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		const key = e.tagName + e.className + ratio.toFixed(2);
		if (ratio < 4.5 && !seen.has(key)) { seen.add(key); found.push("contrast " + ratio.toFixed(2) + ": " + what(e)); }
	}
	return found;
})()`

func TestPagesInABrowserAreOpenToEverybody(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	server := httptest.NewServer(serve(t, live.Config{Path: file(t, 60)}))
	t.Cleanup(server.Close)
	for _, name := range []string{"/?all=1", page("session"), page("conversation", "from", "1"), page("conversation"), page("context"), page("context", "at", "turn30", "from", "1"), page("summaries"), page("event", "seq", "3"), "/nothing"} {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{1200, 360} {
				b.look(width, scheme, true)
				b.open(server.URL + name)
				if strings.HasPrefix(name, "/session") {
					b.until(`document.querySelectorAll(".chart canvas").length === 2`)
					eval[any](b, `document.querySelectorAll("details").forEach(e => e.open = true)`)
				}
				if !strings.HasPrefix(name, "/event") && name != "/nothing" && !strings.Contains(name, "from=") {
					b.until(`document.getElementById("status").textContent !== ""`)
				}
				for _, found := range eval[[]string](b, barriers) {
					t.Errorf("%s, %s, %d pixels: %s", name, scheme, width, found)
				}
				if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > width {
					t.Errorf("%s is %d pixels wide in a window of %d: %v", name, wide, width, eval[[]string](b, `Array.from(document.querySelectorAll("body *")).filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 5).map(e => e.outerHTML.slice(0, 100))`))
				}
				b.picture(strings.Map(func(r rune) rune {
					if strings.ContainsRune("/?&=", r) {
						return '_'
					}
					return r
				}, name) + "_" + scheme + map[int]string{1200: "_wide", 360: "_phone"}[width])
			}
		}
	}
	b.clean(server.URL)
}

// picture saves a picture of the page in the folder that LONGSESSION_PICTURES names.
func (b *browser) picture(name string) {
	folder := os.Getenv("LONGSESSION_PICTURES")
	if folder == "" {
		return
	}
	var shot struct{ Data []byte }
	b.call("Page.captureScreenshot", nil, &shot)
	if err := os.WriteFile(filepath.Join(folder, name+".png"), shot.Data, 0o644); err != nil {
		b.t.Error(err)
	}
}

func TestCurvesInABrowserWorkWithTheKeyboard(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	server := httptest.NewServer(serve(t, live.Config{Path: file(t, 60)}))
	t.Cleanup(server.Close)
	b.look(1000, "light", false)
	b.open(server.URL + page("session"))
	b.until(`document.querySelectorAll("#size .mark").length > 2`)
	for range 200 {
		if b.press("Tab"); eval[bool](b, `document.activeElement.classList.contains("mark")`) {
			break
		}
	}
	b.until(`document.activeElement.classList.contains("mark") && document.querySelector("#size .about pre")?.textContent.includes("parcel")`)
	b.press("Enter")
	b.until(`document.activeElement.classList.contains("about")`)
	b.press("Escape")
	b.until(`document.activeElement.classList.contains("mark") && document.querySelector("#size .about").hidden`)
	if got := eval[string](b, `document.querySelector("#size .legend").textContent`); !strings.Contains(got, "sent to the model") || !strings.Contains(got, "whole history") {
		t.Errorf("the legend is %q", got)
	}
	b.clean(server.URL)
}

func TestPagesInABrowserFollowTheSession(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	w := write(t, filepath.Join(t.TempDir(), "sessions.db"))
	to := w.session("order-1", said(0, 5)...)
	server := httptest.NewServer(serve(t, live.Config{Path: w.path}))
	t.Cleanup(server.Close)
	b.look(1000, "light", true)

	b.open(server.URL + page("conversation"))
	b.until(`document.getElementById("status").textContent === "Live."`)
	eval[any](b, `window.kept = document.querySelector("#e2 a"), window.kept.focus(), 0`)
	w.append(to, said(70, 1)...)
	b.until(`document.getElementById("events").textContent.includes("Parcel 1070 is in Kassel")`)
	b.until(`/new entr/.test(document.getElementById("status").textContent)`)
	if !eval[bool](b, `document.activeElement === window.kept && document.contains(window.kept)`) {
		t.Error("the focus was lost when something new came")
	}
	if got := eval[string](b, `getComputedStyle(document.querySelector(".fresh")).animationName`); got != "none" {
		t.Errorf("with reduced motion the animation is %q", got)
	}
	if order := eval[bool](b, `Array.from(document.getElementById("events").children, e => +e.id.slice(1)).every((n, i, all) => i === 0 || n > all[i - 1])`); !order {
		t.Error("the events are not in order")
	}

	b.open(server.URL + page("session"))
	b.until(`document.querySelectorAll(".chart canvas").length === 2`)
	w.append(to, said(80, 20)...)
	b.until(`document.querySelectorAll("#size .mark").length > 0 && document.querySelectorAll("#facts dd")[1].textContent === "26 (and 26 answers without usage)"`)
	b.clean(server.URL)

	server.Close()
	b.until(`document.getElementById("status").textContent.startsWith("The server does not answer") && document.getElementById("live").classList.contains("lost")`)
}
