package main

import (
	"fmt"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/tokens"
)

// fact is stated once, in turn 1, and asked for in the last turn.
const fact = "QUIST-20417"

const (
	firstQuestion = "Good morning! I am Mara Quist, customer number " + fact + ", and I have eight orders to sort out with you today. Please send everything to the side door, Birkenweg 12 in Jena."
	lastQuestion  = "That is all eight. To be sure you have it right: what is my customer number?"
)

// turn is one question with the scripted model's reaction.
type turn struct {
	question string
	tool     string // "" for none
	args     map[string]any
	answer   string // "" for the last turn: the model must find it in its prompt
}

// conversation is the script: five turns per order, 40 in all.
var conversation = write()

func write() []turn {
	var turns []turn
	for _, o := range orders {
		id := map[string]any{"order_id": o.ID}
		turns = append(turns,
			turn{fmt.Sprintf("Next is order %s. Where is it now, and when can I expect it at the side door?", o.ID), "lookup_order", id,
				fmt.Sprintf("Order %s, the %s for %.2f euros, is marked %q. %s carries it under %s, and the date is %s.", o.ID, o.Item, o.Euros, o.Status, o.Carrier, o.Tracking, o.ETA)},
			turn{fmt.Sprintf("I am sorry to say that something is wrong with the %s: %s. Do you have another one?", o.Item, o.Problem), "check_stock", map[string]any{"sku": o.SKU},
				fmt.Sprintf("I am sorry about that. We have %d of %s in Hall 3, Bremen.", o.Stock, o.SKU)},
			turn{"My sister says that I should not settle for a replacement, and she is right more often than I like to admit. What would you do in my place?", "", nil,
				fmt.Sprintf("If it were mine, I would take the money back for %s and think about it for a week. You can always order again.", o.ID)},
			turn{fmt.Sprintf("Then please refund %s.", o.ID), "refund_order", map[string]any{"order_id": o.ID, "reason": o.Problem},
				fmt.Sprintf("Done. Refund %s over %.2f euros for order %s is on its way and arrives within 5 days.", refundID(o), o.Euros, o.ID)},
			turn{fmt.Sprintf("Thank you. I have written %s next to %s in my notebook, so we are finished with that one.", refundID(o), o.ID), "", nil,
				fmt.Sprintf("You are welcome, Mara. %s is closed on our side as well.", o.ID)},
		)
	}
	turns[0].question = firstQuestion + " First, order A-1041: where is it?"
	turns[len(turns)-1] = turn{question: lastQuestion}
	return turns
}

// scripted returns a model that plays the script. It knows only its prompt: in the last turn it
// finds the customer number there, or admits that it cannot.
func scripted() model.LLM {
	return compactiontest.NewModel("scripted model", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		resp := play(req.Contents)
		in, out := tokens.OfContents(req.Contents), tokens.OfContent(resp.Content)
		resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: int32(in), CandidatesTokenCount: int32(out), TotalTokenCount: int32(in + out),
		}
		return resp
	})
}

func play(prompt []*genai.Content) *model.LLMResponse {
	newest := prompt[len(prompt)-1].Parts[0]
	if newest.FunctionResponse == nil {
		t := stepFor(newest.Text)
		if t.tool != "" {
			return compactiontest.CallTool(t.tool, t.args)
		}
		return compactiontest.Say(t.reply(prompt))
	}
	for i := len(prompt) - 1; i >= 0; i-- {
		if part := prompt[i].Parts[0]; prompt[i].Role == genai.RoleUser && part.Text != "" {
			return compactiontest.Say(stepFor(part.Text).answer)
		}
	}
	return compactiontest.Say("I see a tool's result, but no question.")
}

func stepFor(question string) turn {
	for _, t := range conversation {
		if t.question == question {
			return t
		}
	}
	return turn{answer: "I have no script for that."}
}

func (t turn) reply(prompt []*genai.Content) string {
	if t.answer != "" {
		return t.answer
	}
	for _, content := range prompt[:len(prompt)-1] {
		for _, part := range content.Parts {
			if strings.Contains(part.Text, fact) {
				return "Your customer number is " + fact + "."
			}
		}
	}
	return "I am afraid I can no longer find your customer number."
}
