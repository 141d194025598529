package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// pieces are the marks of a text that were found.
type pieces uint8

const (
	start pieces = 1 << iota
	middle
	end
	// whole is an uncut text.
	whole = start | middle | end
)

var places = map[string]pieces{"START": start, "MIDDLE": middle, "END": end, "FACT": whole}

var markPattern = regexp.MustCompile(`(START|MIDDLE|END|FACT)-(\d{5})`)

// mark inserts a text's number at its start, in its middle and at its end.
func mark(text string, number int) string {
	runes := []rune(text)
	half := len(runes) / 2
	return fmt.Sprintf("START-%05d %s MIDDLE-%05d %s END-%05d", number, string(runes[:half]), number, string(runes[half:]), number)
}

// fact is the summary of a text that its writer read uncut.
func fact(number int) string { return compactiontest.Fact(number) }

// marksOf returns the numbered texts in contents, with the marks that were found.
func marksOf(contents []*genai.Content) map[int]pieces {
	data, err := json.Marshal(contents)
	if err != nil {
		return nil // no provider would accept them either
	}
	return marks(data)
}

// marks returns the numbered texts in a text, with the marks that were found.
func marks(text []byte) map[int]pieces {
	found := map[int]pieces{}
	for _, m := range markPattern.FindAllSubmatch(text, -1) {
		if number, err := strconv.Atoi(string(m[2])); err == nil {
			found[number] |= places[string(m[1])]
		}
	}
	return found
}
