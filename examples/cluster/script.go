package main

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// How long a model takes to answer, and to summarize. Real ones take longer: the shorter the turns are beside the
// summaries, the more often two processes want to write the same one.
const (
	answering   = 30 * time.Millisecond
	summarizing = 250 * time.Millisecond
)

// customer is a user who talks to the app.
type customer struct{ name, order string }

var customers = []customer{{"mara", "R-20417"}, {"jonas", "R-31188"}, {"ida", "R-40962"}, {"theo", "R-57703"}}

var (
	rooms  = strings.Fields("kitchen study bedroom nursery attic cellar hall workshop")
	things = []string{"the blue dinner service", "winter coats", "children's books", "the record collection", "tools and paint",
		"bed linen", "two table lamps", "framed photographs", "the sewing machine", "jars and bottles", "board games"}
)

const lastQuestion = "That is everything. What is my order number, and how many boxes are on my list?"

// says returns what a customer says in a turn, counted from 0: the first turn has the order number, each turn behind it one
// box, and the last one asks for all that, long after it was said to other processes.
func (c customer) says(turn, turns int) string {
	switch turn {
	case 0:
		return fmt.Sprintf("Good morning, this is %s. My order number is %s, and we move on the last day of the month. May I list my boxes?",
			strings.ToUpper(c.name[:1])+c.name[1:], c.order)
	case turns - 1:
		return lastQuestion
	}
	n := turn + len(c.name)
	return fmt.Sprintf("Box %d has %s, weighs %d kg, and goes to the %s. Please put it on the list, and keep it upright.",
		turn, things[n%len(things)], 6+n*5%19, rooms[n%len(rooms)])
}

// right is the answer to a customer's last question.
func (c customer) right(turns int) string {
	return list([]string{c.order}, make([]string, turns-2))
}

// list says which order numbers and how many boxes are known.
func list(orders, boxes []string) string {
	return fmt.Sprintf("Your order number is %s, and %d boxes are on your list.", strings.Join(orders, " or "), len(boxes))
}

// scripted is a model that knows only its prompt.
type scripted struct{}

// sizeKey is the context key under which a turn keeps the size of its prompt.
type sizeKey struct{}

func (*scripted) Name() string { return "scripted model" }

func (*scripted) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if size, ok := ctx.Value(sizeKey{}).(*int); ok {
			*size = tokens.OfContents(req.Contents)
		}
		if err := pause(ctx, answering); err != nil {
			yield(nil, err)
			return
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromText(answer(req.Contents), genai.RoleModel), TurnComplete: true}, nil)
	}
}

func answer(prompt []*genai.Content) string {
	question := prompt[len(prompt)-1].Parts[0].Text
	if question != lastQuestion {
		return "Very well, that is on the list: " + question
	}
	var texts []string
	for _, content := range prompt {
		for _, part := range content.Parts {
			texts = append(texts, part.Text)
		}
	}
	orders, boxes := facts(texts)
	if len(orders) == 0 {
		return "I am afraid that I no longer know."
	}
	return list(orders, boxes)
}

// writer is the script of a model that writes summaries.
type writer struct{}

func (writer) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	if err := pause(ctx, summarizing); err != nil {
		return summarizer.Result{}, err
	}
	texts := req.Summaries
	for _, ev := range req.Events {
		if ev == nil || ev.Content == nil {
			continue
		}
		for _, part := range ev.Content.Parts {
			texts = append(texts, part.Text)
		}
	}
	orders, boxes := facts(texts)
	text := "The customer lists boxes for a removal. " + strings.Join(append(orders, boxes...), ", ") + "."
	return summarizer.Result{Content: genai.NewContentFromText(text, genai.RoleModel)}, nil
}

var (
	orderNumber = regexp.MustCompile(`\bR-\d{5}\b`)
	boxNumber   = regexp.MustCompile(`\bBox \d+\b`)
)

// facts returns the order numbers and the boxes that texts name, each once.
func facts(texts []string) (orders, boxes []string) {
	all := strings.Join(texts, "\n")
	once := func(found []string) []string {
		slices.Sort(found)
		return slices.Compact(found)
	}
	return once(orderNumber.FindAllString(all, -1)), once(boxNumber.FindAllString(all, -1))
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
