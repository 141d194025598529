package tools

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"testing"
)

// hostile has a page for each way in which a small page asks for much work. Each ends with a paragraph of its own.
func hostile() map[string]string {
	n := func(times int, s string) string { return strings.Repeat(s, times) }
	numbered := func(times int, format string) string {
		var out strings.Builder
		for i := range times {
			fmt.Fprintf(&out, format, i)
		}
		return out.String()
	}
	return map[string]string{
		"a colspan of a billion":       "<table><tr><td colspan=1000000000>x</table>",
		"a rowspan of a billion":       "<table><tr><td rowspan=1000000000>x<tr><td>y</table>",
		"spans at HTML's bounds":       "<table>" + n(100, "<tr>"+n(20, "<td colspan=1000 rowspan=65534>x")) + "</table>",
		"a wide and tall table":        "<table><tr>" + n(5_000, "<td>") + n(5_000, "<tr>") + "</table>",
		"one wide cell in many rows":   "<table><tr><td>" + n(500_000, "w") + n(100_000, "<tr><td>x") + "</table>",
		"characters to escape":         n(750_000, "* "),
		"brackets in one line":         n(1_500_000, "["),
		"a line of dashes":             n(700_000, "- ") + "x",
		"deep elements":                n(300_000, "<div>"),
		"deep quotes of many lines":    n(400, "<blockquote>") + n(400_000, "<br>x"),
		"deep quotes of code":          n(400, "<blockquote>") + "<pre>" + n(900_000, "\n.") + "</pre>" + n(400, "</blockquote>"),
		"deep lists":                   n(400, "<ul><li>") + n(200_000, "<p>x") + n(400, "</ul>"),
		"deep tables":                  n(400, "<table><tr><td>x") + n(100_000, "<p>x") + n(400, "</table>"),
		"deep emphasis":                n(100_000, "<b><i>x"),
		"formatting that is reopened":  numbered(400, "<b id=%d>") + n(300_000, "<p>x"),
		"attributes":                   "<p " + numbered(150_000, "a%d=b ") + ">x",
		"a long attribute":             "<a href=\"" + n(2_000_000, "a") + "\">x</a>",
		"links of a long address":      n(140_000, "<a href=x>x</a>"),
		"links without text":           n(100_000, "<a href=#>"),
		"unclosed cells":               "<table>" + n(300_000, "<td>x"),
		"unclosed items":               "<ol>" + n(300_000, "<li>x"),
		"unclosed links":               n(200_000, "<a href=/>x"),
		"ends without a beginning":     n(300_000, "</ul></p>"),
		"items in tables without ends": n(100_000, "<table><li><td>x</ul>"),
		"entities":                     n(400_000, "&lt;"),
		"the longest entity":           n(80_000, "&CounterClockwiseContourIntegral;"),
		"comments between letters":     n(200_000, "a<!---->"),
		"a million elements":           n(600_000, "<q>"),
		"fences":                       "<pre>" + n(1_000_000, "`") + "</pre>" + n(100_000, "<code>``</code>"),
		"headings in headings":         n(200_000, "<h1><h6>"),
		"rules":                        n(400_000, "<hr>"),
		"pictures":                     n(80_000, "<img alt=x src=x>"),
		"an unclosed tag":              "<p " + n(1_000_000, "="),
		"half a comment":               "x<!--" + n(1_000_000, "-"),
	}
}

// hostilePage is a page as it arrives.
func hostilePage(t *testing.T, body string) *webPage {
	t.Helper()
	address, err := url.Parse("http://example.com/" + strings.Repeat("long/", 750) + "?" + strings.Repeat("query", 750))
	if err != nil {
		t.Fatal(err)
	}
	return &webPage{url: address, kind: "text/html", header: "text/html; charset=utf-8", body: []byte(body)}
}

// The longest prefix of a line, the address of a link and the markers of a cell are each longer than the tag that
// asks for them. The text is bounded anyway, and so is all memory on the way to it.
func TestNoPageTakesMoreMemoryThanItsLimitAllows(t *testing.T) {
	for what, body := range hostile() {
		t.Run(what, func(t *testing.T) {
			if len(body) > defaultMaxBytes {
				body = body[:defaultMaxBytes]
			}
			p := hostilePage(t, body+"<p>found")
			routines := runtime.NumGoroutine()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := p.toText(t.Context()); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if now := runtime.NumGoroutine(); now > routines {
				t.Errorf("%d goroutines work on behind the answer", now-routines)
			}
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 40*defaultMaxBytes {
				t.Errorf("%d MiB for a page of %d KiB", taken>>20, len(body)>>10)
			}
			if len(p.text) > 3*defaultMaxBytes {
				t.Errorf("a text of %d KiB of a page of %d KiB", len(p.text)>>10, len(body)>>10)
			}
		})
	}
}

// Whatever the page, its conversion ends with the call.
func TestAConversionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	p := hostilePage(t, strings.Repeat("<p>x", 100_000))
	err := p.toText(&ended{t.Context(), 100, context.Canceled})
	if !errors.Is(err, context.Canceled) || p.text != "" {
		t.Errorf("%v, and %d bytes", err, len(p.text))
	}
}
