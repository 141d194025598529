package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// pieces says which marks of a text stand somewhere.
type pieces uint8

const (
	start pieces = 1 << iota
	middle
	end
	// whole is a text of which nothing was cut off.
	whole = start | middle | end
)

var places = map[string]pieces{"START": start, "MIDDLE": middle, "END": end, "FACT": whole}

var markPattern = regexp.MustCompile(`(START|MIDDLE|END|FACT)-(\d{5})`)

// mark puts a text's number at its start, in its middle and at its end.
func mark(text string, number int) string {
	runes := []rune(text)
	half := len(runes) / 2
	return fmt.Sprintf("START-%05d %s MIDDLE-%05d %s END-%05d", number, string(runes[:half]), number, string(runes[half:]), number)
}

// fact is what a summary says of a text that its writer was shown whole.
func fact(number int) string { return compactiontest.Fact(number) }

// marksOf finds the numbered texts of which something stands in contents, and what.
func marksOf(contents []*genai.Content) map[int]pieces {
	data, err := json.Marshal(contents)
	if err != nil {
		return nil // no provider could be sent them either
	}
	return marks(data)
}

// marks finds the numbered texts of which something stands in a text, and what.
func marks(text []byte) map[int]pieces {
	found := map[int]pieces{}
	for _, m := range markPattern.FindAllSubmatch(text, -1) {
		if number, err := strconv.Atoi(string(m[2])); err == nil {
			found[number] |= places[string(m[1])]
		}
	}
	return found
}
