package main

import (
	"fmt"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// budget is stated in the first turn and asked for in the last one, long after the restart.
const budget = "38,400 euros"

const (
	firstQuestion = "Good morning! I am Ida Brandt, our budget is " + budget + ", and ten rooms have to be painted. Shall we begin?"
	// again is the first question after the restart.
	again        = "Here I am again. What did I tell you last?"
	lastQuestion = "Those are all rooms. And what is our budget?"
)

type room struct {
	name          string
	length, width float64 // metres
	colour        string
	litres        int
}

var rooms = []room{
	{"hall", 4.20, 1.80, "RAL 9010 pure white", 6},
	{"kitchen", 3.90, 3.40, "RAL 1013 oyster white", 9},
	{"dining room", 5.10, 3.60, "RAL 6021 pale green", 12},
	{"sitting room", 6.30, 4.10, "RAL 7044 silk grey", 17},
	{"study", 3.20, 2.90, "RAL 5024 pastel blue", 8},
	{"bathroom", 2.80, 2.20, "RAL 9016 traffic white", 5},
	{"main bedroom", 4.60, 3.80, "RAL 1015 light ivory", 11},
	{"Jonas's room", 3.70, 3.30, "RAL 1018 zinc yellow", 10},
	{"Lena's room", 3.60, 3.30, "RAL 4009 pastel violet", 10},
	{"attic", 7.40, 3.10, "RAL 9001 cream", 19},
}

// conversation is Ida's part: four turns per room, 40 in all.
var conversation = write()

func write() []string {
	var all []string
	for _, r := range rooms {
		all = append(all,
			fmt.Sprintf("Next is the %s. It is %.2f by %.2f metres, and 2.60 metres high. Can you start there on a Monday?", r.name, r.length, r.width),
			fmt.Sprintf("For the %s I would like %s, matt, and the ceiling white as it is now. What do you think of it?", r.name, r.colour),
			fmt.Sprintf("My neighbour says that %d litres are enough for the %s. Please take that down, even if you think that it is more.", r.litres, r.name),
			fmt.Sprintf("Then we are done with the %s, and I shall move the furniture out of it the evening before you come.", r.name),
		)
	}
	all[0], all[len(all)/2], all[len(all)-1] = firstQuestion, again, lastQuestion
	return all
}

// scripted returns a model that knows only its prompt.
func scripted() model.LLM {
	return compactiontest.NewModel("scripted model", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		return compactiontest.Say(answer(req.Contents))
	})
}

func answer(prompt []*genai.Content) string {
	before, question := prompt[:len(prompt)-1], prompt[len(prompt)-1].Parts[0].Text
	switch question {
	case again:
		for i := len(before) - 1; i >= 0; i-- {
			if before[i].Role == genai.RoleUser {
				return "You said: " + before[i].Parts[0].Text
			}
		}
		return "I am afraid that we have never met."
	case lastQuestion:
		for _, content := range before {
			if strings.Contains(content.Parts[0].Text, budget) {
				return "Your budget is " + budget + "."
			}
		}
		return "I am afraid that I no longer know."
	default:
		return "Very well, I have written that down for you."
	}
}
