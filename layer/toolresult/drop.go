package toolresult

import (
	"slices"
	"strconv"
	"strings"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// The notice in front of a request from which contents were dropped.
const (
	noticeOpens  = "[conversation truncated — "
	noticeCloses = " older messages omitted]"
)

// Dropped reports what [Drop] took out of a request.
type Dropped struct {
	// Messages is how many contents were dropped, and Tokens their estimated number of tokens. Both
	// are 0 if nothing was dropped.
	Messages, Tokens int
	// Omitted is how many contents the notice at the start of the request counts: Messages, and those
	// that were dropped before the call.
	Omitted int
	// Fits is the last answer of fits.
	Fits bool
}

// Drop removes the oldest tool rounds from req.Contents until fits reports that the request is small
// enough: the very last resort, because the model is left without what these rounds showed. A round is
// a content with calls together with all contents that answer them. The newest round stays, and so does
// every content that is not part of a complete round: messages of the user, answers of the model, and
// summaries. The notice becomes the first content, in the role of the user, for example:
//
//	[conversation truncated — 47 older messages omitted]
//
// fits looks at req, and is called once for the whole request and then a few times for shorter ones. It
// must not change req. Drop gives req a new list of contents, and changes no content. If even the request
// without all older rounds does not fit, they are all gone, and Dropped.Fits is false.
func Drop(req *model.LLMRequest, fits func() bool) Dropped {
	if fits() {
		return Dropped{Fits: true, Omitted: omittedBefore(req)}
	}
	all, before := req.Contents, omittedBefore(req)
	rounds := completeRounds(all)
	if len(rounds) > 0 && rounds[len(rounds)-1].newest {
		rounds = rounds[:len(rounds)-1]
	}
	if len(rounds) == 0 {
		return Dropped{Omitted: before}
	}
	try := func(n int) bool {
		req.Contents = without(all, rounds[:n], before)
		return fits()
	}
	// The fewest rounds that are enough: fewer do not fit, and enough do.
	fewer, enough := 0, len(rounds)
	fit := try(enough)
	for fit && enough-fewer > 1 {
		if middle := (fewer + enough) / 2; try(middle) {
			enough = middle
		} else {
			fewer = middle
		}
	}
	req.Contents = without(all, rounds[:enough], before)
	dropped := Dropped{Fits: fit, Omitted: omittedBefore(req)}
	for _, r := range rounds[:enough] {
		dropped.Messages += r.end - r.start
		dropped.Tokens += tokens.OfContents(all[r.start:r.end])
	}
	return dropped
}

// round is a content with calls, and the contents that answer them.
type round struct {
	start, end int // indexes of contents
	newest     bool
}

// completeRounds returns the rounds in which every call is answered, and only by contents that hold
// nothing else.
func completeRounds(contents []*genai.Content) []round {
	var rounds []round
	newest := 0
	for i := 0; i < len(contents); i++ {
		calls := callNames(contents[i])
		if len(calls) == 0 || contents[i].Role != genai.RoleModel {
			continue
		}
		newest = i
		r := round{start: i, end: i + 1}
		var answered []string
		for ; r.end < len(contents); r.end++ {
			names, only := responseNames(contents[r.end])
			if !only {
				break
			}
			answered = append(answered, names...)
		}
		// The IDs do not help: ADK removes its own from requests.
		slices.Sort(calls)
		slices.Sort(answered)
		if slices.Equal(calls, answered) {
			rounds = append(rounds, r)
		}
		i = r.end - 1
	}
	if n := len(rounds); n > 0 {
		rounds[n-1].newest = rounds[n-1].start == newest
	}
	return rounds
}

// callNames returns the names of the functions that a content calls.
func callNames(c *genai.Content) (names []string) {
	if c == nil {
		return nil
	}
	for _, part := range c.Parts {
		if part != nil && part.FunctionCall != nil {
			names = append(names, part.FunctionCall.Name)
		}
	}
	return names
}

// responseNames returns the names of the functions whose responses a content holds. only is false if it
// holds none, or anything else.
func responseNames(c *genai.Content) (names []string, only bool) {
	if c == nil || len(c.Parts) == 0 {
		return nil, false
	}
	for _, part := range c.Parts {
		if part == nil || part.FunctionResponse == nil {
			return nil, false
		}
		names = append(names, part.FunctionResponse.Name)
	}
	return names, true
}

// without returns contents without some rounds, and with the notice in front.
func without(contents []*genai.Content, rounds []round, before int) []*genai.Content {
	omitted := before
	for _, r := range rounds {
		omitted += r.end - r.start
	}
	notice := genai.NewContentFromText(noticeOpens+strconv.Itoa(omitted)+noticeCloses, genai.RoleUser)
	out := append(make([]*genai.Content, 0, len(contents)+1-omitted+before), notice)
	from := 0
	if before > 0 {
		from = 1 // the earlier notice
	}
	for _, r := range rounds {
		out = append(out, contents[from:r.start]...)
		from = r.end
	}
	return append(out, contents[from:]...)
}

// omittedBefore returns the number in the notice of a request, 0 if it has none.
func omittedBefore(req *model.LLMRequest) int {
	if len(req.Contents) == 0 {
		return 0
	}
	c := req.Contents[0]
	if c == nil || c.Role != genai.RoleUser || len(c.Parts) != 1 || c.Parts[0] == nil {
		return 0
	}
	text, opens := strings.CutPrefix(c.Parts[0].Text, noticeOpens)
	digits, closes := strings.CutSuffix(text, noticeCloses)
	n, err := strconv.Atoi(digits)
	if !opens || !closes || err != nil || n < 1 || n > maxTokens || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}
