package chart_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chart"
	"github.com/adk-go-ext/longsession/replay"
)

// write returns the page's text and its parsed form.
func write(t *testing.T, page chart.Page) (string, *html.Node) {
	t.Helper()
	var out bytes.Buffer
	if err := chart.Write(&out, page); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), root
}

func pageOf(reports ...*replay.Report) chart.Page {
	return chart.Page{Title: "Replay of sessions.jsonl", Ran: []string{"window 32,000"}, Totals: totals(reports), Reports: reports}
}

// all returns the elements below n for which keep holds, in document order.
func all(n *html.Node, keep func(*html.Node) bool) []*html.Node {
	var out []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && keep(d) {
			out = append(out, d)
		}
	}
	return out
}

func named(tag string) func(*html.Node) bool {
	return func(n *html.Node) bool { return n.Data == tag }
}

func classed(class string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		for _, c := range strings.Fields(attribute(n, "class")) {
			if c == class {
				return true
			}
		}
		return false
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// section is what the script of a section reads.
type section []struct {
	Policy, Limit               int
	Turns, Without, With, Marks []int
	WithoutUSD                  []float64 `json:"withoutUsd"`
	USD                         []float64
}

func sections(t *testing.T, root *html.Node) []section {
	t.Helper()
	var out []section
	for _, n := range all(root, func(n *html.Node) bool { return n.Data == "script" && attribute(n, "type") == "application/json" }) {
		var s section
		if err := json.Unmarshal([]byte(text(n)), &s); err != nil {
			t.Fatalf("the data of section %d is no JSON: %v", len(out)+1, err)
		}
		out = append(out, s)
	}
	return out
}
