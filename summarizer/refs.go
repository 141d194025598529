package summarizer

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/tokens"
)

// refKey is the key under which a shortened tool result carries the reference of the whole result. Package
// toolresult writes it, and its tool read_result takes it.
const refKey = "ref_id"

var (
	refPattern = regexp.MustCompile(`\br-[0-9a-f]{16}\b`)
	wholeRef   = regexp.MustCompile(`^r-[0-9a-f]{16}$`)
)

// refOf returns the reference of a shortened tool result, and the result without it. It returns "" and the
// response itself if the response has none. Notes of layers, which are about the moment in which they were
// written, are left out of the result.
func refOf(response map[string]any) (ref string, rest map[string]any) {
	response = notes.Without(response)
	ref, ok := response[refKey].(string)
	if !ok || !wholeRef.MatchString(ref) {
		return "", response
	}
	rest = maps.Clone(response)
	delete(rest, refKey)
	return ref, rest
}

// keepRefs is the demand that a summarized reference stays readable. Prompts without references omit it.
const keepRefs = `A ref_id (r-0123456789abcdef) reads a shortened tool result whole again. Copy each one that may still be needed character for character, with what it holds.
`

// anyRef reports whether a text has a reference.
func anyRef(texts ...string) bool {
	return slices.ContainsFunc(texts, refPattern.MatchString)
}

// wholeResult names a tool result that can be read whole.
type wholeResult struct{ tool, ref string }

const wholePrefix = "Whole results by ref_id: "

// wholeResults lists the newest results that fit into budget tokens, in order, each reference once:
//
//	Whole results by ref_id: read_file r-3f9a0c11d2e47b58, r-77a10b2c9d8e6f50; run r-0a1b2c3d4e5f6071
//
// A result without a tool's name is from an earlier summary. wholeResults returns "" if none fits.
func wholeResults(results []wholeResult, budget int) string {
	var kept []wholeResult
	seen, text := map[string]bool{}, ""
	for _, r := range slices.Backward(results) {
		if seen[r.ref] {
			continue
		}
		seen[r.ref] = true
		longer := refLine(slices.Insert(slices.Clone(kept), 0, r))
		if tokens.Estimate(longer)+lineBreak > budget {
			break
		}
		kept, text = slices.Insert(kept, 0, r), longer
	}
	return text
}

func refLine(results []wholeResult) string {
	var b strings.Builder
	b.WriteString(wholePrefix)
	for i, r := range results {
		sameTool := i > 0 && results[i-1].tool == r.tool
		switch {
		case sameTool:
			b.WriteString(", ")
		case i > 0:
			b.WriteString("; ")
		}
		if !sameTool && r.tool != "" {
			b.WriteString(r.tool + " ")
		}
		b.WriteString(r.ref)
	}
	return b.String()
}
