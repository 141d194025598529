package main

import (
	"fmt"
	"strings"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// Size of the invented conversation: 30 turns make 54 requests, because 24 turns use a tool.
const (
	inventedTurns = 30
	plainEvery    = 5 // every fifth turn calls no tool
)

// invented is a conversation of a customer with a shop's support desk, which looks up orders.
func invented() *conversation.Conversation { return desk("invented", inventedTurns) }

// desk is a conversation of that many turns.
func desk(id string, turns int) *conversation.Conversation {
	c := &conversation.Conversation{ID: id, Instruction: "You are the support desk of a shop. Be brief and exact."}
	for i := 1; i <= turns; i++ {
		user := fmt.Sprintf("Next is order %d, which I placed for branch %d. %s", 4000+i, 10+i, prose(i, 3))
		turn := conversation.Turn{User: genai.NewContentFromText(user, genai.RoleUser)}
		if i%plainEvery != 0 {
			id := fmt.Sprintf("call-%d", i)
			answer := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{
				FunctionCall: &genai.FunctionCall{ID: id, Name: "look_up_order", Args: map[string]any{"order": 4000 + i}},
			}}}
			result := map[string]any{"status": "in transit", "parcel": fmt.Sprintf("NP%07d", 81_000+i*37), "log": prose(i+1, 8)}
			turn.Steps = append(turn.Steps, conversation.Step{
				Answer:    answer,
				Responses: []*genai.FunctionResponse{{ID: id, Name: "look_up_order", Response: result}},
			})
		}
		answer := genai.NewContentFromText(fmt.Sprintf("I have looked at order %d. %s", 4000+i, prose(i+2, 4)), genai.RoleModel)
		turn.Steps = append(turn.Steps, conversation.Step{Answer: answer})
		c.Turns = append(c.Turns, turn)
	}
	return c
}

var sentences = []string{
	"The parcel left the warehouse in Bremen early in the morning and was scanned at the northern depot.",
	"The driver found nobody at the door, so it went back to the depot for another day.",
	"The colour on the invoice is not the one that was ordered, and the box had a dent on one side.",
	"A part of the amount was paid with a voucher, which has to be counted before anything is refunded.",
	"The address has a second entrance in the yard, which is the one that should be used from now on.",
	"The weight on the label differs from the one in the books by almost two kilograms.",
	"A colleague had promised a call on Thursday, but the note about it does not say to whom.",
}

// prose returns n sentences, always the same ones for the same arguments.
func prose(from, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = sentences[(from+i)%len(sentences)]
	}
	return strings.Join(out, " ")
}

// readingSteps is the number of tool rounds in each of the readingTurns turns of the invented session of
// an agent that reads.
const readingTurns, readingSteps = 3, 30

// readingLogs is a session of an agent that reads one file after the other. Most results have some KB, and one of each
// turn is larger than every limit.
func readingLogs() *conversation.Conversation {
	return reading("read", readingTurns, readingSteps, func(n int) int {
		if n%readingSteps == readingSteps/2 {
			return 1_200
		}
		return 4 + n*7%45
	})
}

// reading is such a session with turns of so many steps. lines returns the lines of file n. The IDs of calls begin with id.
func reading(id string, turns, steps int, lines func(n int) int) *conversation.Conversation {
	c := &conversation.Conversation{ID: id, Instruction: "You read logs and answer questions about them."}
	for turn := range turns {
		t := conversation.Turn{User: genai.NewContentFromText(fmt.Sprintf("Read part %d. %s", turn, prose(turn, 2)), genai.RoleUser)}
		for step := range steps {
			n := turn*steps + step
			var text strings.Builder
			for line := range lines(n) {
				fmt.Fprintf(&text, "%d:%d %s\n", n, line, prose(n+line, 1))
			}
			call := fmt.Sprintf("%s-%d", id, n)
			t.Steps = append(t.Steps, conversation.Step{
				Answer: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{
					FunctionCall: &genai.FunctionCall{ID: call, Name: "read_log", Args: map[string]any{"path": fmt.Sprintf("log-%d.txt", n)}},
				}}},
				Responses: []*genai.FunctionResponse{{ID: call, Name: "read_log", Response: map[string]any{"output": text.String()}}},
			})
		}
		t.Steps = append(t.Steps, conversation.Step{Answer: genai.NewContentFromText("I have read it. "+prose(turn, 3), genai.RoleModel)})
		c.Turns = append(c.Turns, t)
	}
	return c
}
