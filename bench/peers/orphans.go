package main

import "google.golang.org/genai"

// orphans counts calls without a response, and responses without an earlier call. Providers reject
// both.
func orphans(contents []*genai.Content) int {
	type call struct{ id, name string }
	open := map[call]int{}
	strays := 0
	for _, c := range contents {
		for _, part := range c.Parts {
			if f := part.FunctionCall; f != nil {
				open[call{f.ID, f.Name}]++
			}
			if f := part.FunctionResponse; f != nil {
				if open[call{f.ID, f.Name}]--; open[call{f.ID, f.Name}] < 0 {
					open[call{f.ID, f.Name}] = 0
					strays++
				}
			}
		}
	}
	for _, n := range open {
		strays += n
	}
	return strays
}
