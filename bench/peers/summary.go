package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/genai"
)

// shown is what the writer of summaries reads in one request.
type shown struct {
	marks map[int]pieces
	// openings has the first words of texts whose start was read, by their number.
	openings map[int]string
	refs     []string
}

// openingPattern matches the first words of a text, up to the first character that JSON or a transcript may
// have escaped.
var openingPattern = regexp.MustCompile(`START-(\d{5}) (\pL[\pL\d]*(?: \pL[\pL\d]*){0,2})`)

func shownIn(contents []*genai.Content) shown {
	data, err := json.Marshal(contents)
	if err != nil {
		return shown{} // no provider would accept them either
	}
	r := shown{marks: marks(data), openings: map[int]string{}, refs: refs(data)}
	for _, m := range openingPattern.FindAllSubmatch(data, -1) {
		if number, err := strconv.Atoi(string(m[1])); err == nil {
			r.openings[number] = string(m[2])
		}
	}
	return r
}

// lead begins each summary. A summary has a sentence about the conversation even without any fact, as those of
// real models do: longsession refuses codes alone, and an answer that is empty or as good as empty.
const lead = "The agent went on with the work that the user had asked it for."

// summary returns the lead, the facts of earlier summaries, a short sentence for each text that was read uncut,
// with its fact and its first words, the first words alone of those that were read cut, and the references.
//
//	The agent went on with the work that the user had asked it for. FACT-00001 FACT-00002. FACT-00003: Next is order.
//	In part: The parcel left. Whole results: r-3f9a0c11d2e47b58.
func (r shown) summary() string {
	var earlier, read, partly []string
	for _, number := range slices.Sorted(maps.Keys(r.marks)) {
		switch opening := r.openings[number]; {
		case r.marks[number] == whole && opening == "":
			earlier = append(earlier, fact(number))
		case r.marks[number] == whole:
			read = append(read, fact(number)+": "+opening)
		case opening != "":
			partly = append(partly, opening)
		}
	}
	said := []string{lead}
	add := func(label string, texts []string, separator string) {
		if len(texts) > 0 {
			said = append(said, label+strings.Join(texts, separator)+".")
		}
	}
	add("", earlier, " ")
	add("", read, ". ")
	add("In part: ", partly, "; ")
	add("Whole results: ", r.refs, " ")
	return strings.Join(said, " ")
}
