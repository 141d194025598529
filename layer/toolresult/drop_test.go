package toolresult_test

import (
	"fmt"
	"reflect"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/tokens"
)

// outline has a letter for each content: u and m for messages of the user and the model, c for calls, r for
// responses, and the text of a notice.
func outline(req *model.LLMRequest) string {
	out := ""
	for _, c := range req.Contents {
		switch {
		case len(requests.Calls(c)) > 0:
			out += "c"
		case len(requests.Responses(c)) > 0:
			out += "r"
		case len(c.Parts) == 1 && c.Parts[0].Text[0] == '[':
			out += c.Parts[0].Text
		default:
			out += c.Role[:1]
		}
	}
	return out
}

// chat is a request of two turns: "ucrcrm" and "ucrcr".
func chat() *model.LLMRequest {
	req := rounds(page(0, 100), page(1, 100))
	req.Contents = append(req.Contents, genai.NewContentFromText("Done.", genai.RoleModel), genai.NewContentFromText("More.", genai.RoleUser))
	addRound(req, 2, page(2, 100))
	addRound(req, 3, page(3, 100), page(4, 100))
	return req
}

func atMost(req *model.LLMRequest, contents int) func() bool {
	return func() bool { return len(req.Contents) <= contents }
}

func TestTheOldestRoundsAreDropped(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		fits, messages int
		want           string
	}{
		{11, 0, "ucrcrmucrcr"},
		{10, 2, "[conversation truncated — 2 older messages omitted]ucrmucrcr"},
		{9, 4, "[conversation truncated — 4 older messages omitted]umucrcr"},
		{8, 4, "[conversation truncated — 4 older messages omitted]umucrcr"},
		{7, 6, "[conversation truncated — 6 older messages omitted]umucr"},
		{0, 6, "[conversation truncated — 6 older messages omitted]umucr"}, // never the newest round
	} {
		req := chat()
		before := chat().Contents
		dropped := toolresult.Drop(req, atMost(req, r.fits))
		if got := outline(req); got != r.want {
			t.Errorf("at most %d contents: %s, want %s", r.fits, got, r.want)
		}
		if problems := requests.Problems(req.Contents); len(problems) > 0 {
			t.Errorf("at most %d contents: %v", r.fits, problems)
		}
		want := toolresult.Dropped{Messages: r.messages, Omitted: r.messages, Fits: r.fits >= len(req.Contents)}
		for _, at := range []int{1, 3, 7}[:r.messages/2] {
			want.Tokens += tokens.OfContents(before[at : at+2])
		}
		if dropped != want {
			t.Errorf("at most %d contents: %+v, want %+v", r.fits, dropped, want)
		}
	}
}

func TestDroppingAgainCountsWhatWasDroppedBefore(t *testing.T) {
	t.Parallel()
	req := chat()
	toolresult.Drop(req, atMost(req, 10))
	once := outline(req)
	if dropped := toolresult.Drop(req, atMost(req, 10)); outline(req) != once || dropped != (toolresult.Dropped{Omitted: 2, Fits: true}) {
		t.Errorf("a request that fits became %s: %+v", outline(req), dropped)
	}
	dropped := toolresult.Drop(req, atMost(req, 7))
	if want := "[conversation truncated — 6 older messages omitted]umucr"; outline(req) != want || dropped.Messages != 4 || dropped.Omitted != 6 {
		t.Errorf("%s, %+v; want %s", outline(req), dropped, want)
	}
	again := outline(req)
	if dropped := toolresult.Drop(req, atMost(req, 1)); outline(req) != again || dropped != (toolresult.Dropped{Omitted: 6}) {
		t.Errorf("a request without older rounds became %s: %+v", outline(req), dropped)
	}
}

func TestOnlyCompleteRoundsAreDropped(t *testing.T) {
	t.Parallel()
	user := genai.NewContentFromText("And this?", genai.RoleUser)
	for _, r := range []struct {
		name   string
		change func(req *model.LLMRequest)
		want   string
	}{
		{"words of the user behind the responses stay", func(req *model.LLMRequest) {
			req.Contents[2].Parts = append(req.Contents[2].Parts, genai.NewPartFromText("And this?"))
		}, "[conversation truncated — 4 older messages omitted]ucrmucr"},
		{"an unanswered call stays", func(req *model.LLMRequest) {
			req.Contents[1].Parts = append(req.Contents[1].Parts, genai.NewPartFromFunctionCall("look", nil))
		}, "[conversation truncated — 4 older messages omitted]ucrmucr"},
		{"a response of another tool is no answer", func(req *model.LLMRequest) {
			req.Contents[2].Parts[0].FunctionResponse.Name = "listen"
		}, "[conversation truncated — 4 older messages omitted]ucrmucr"},
		{"responses in two contents", func(req *model.LLMRequest) {
			last := req.Contents[10]
			req.Contents[10] = &genai.Content{Role: genai.RoleUser, Parts: last.Parts[:1]}
			req.Contents = append(req.Contents, &genai.Content{Role: genai.RoleUser, Parts: last.Parts[1:]})
		}, "[conversation truncated — 6 older messages omitted]umucrr"},
		{"a newest call that waits", func(req *model.LLMRequest) {
			req.Contents = append(req.Contents[:10:10], user)
		}, "[conversation truncated — 6 older messages omitted]umucu"},
		{"nothing but messages", func(req *model.LLMRequest) { req.Contents = req.Contents[5:7] }, "mu"},
		{"no contents", func(req *model.LLMRequest) { req.Contents = nil }, ""},
	} {
		req := chat()
		r.change(req)
		toolresult.Drop(req, func() bool { return false })
		if got := outline(req); got != r.want {
			t.Errorf("%s: %s, want %s", r.name, got, r.want)
		}
	}
}

func TestASmallAnswerIsFoundInFewTries(t *testing.T) {
	t.Parallel()
	req := rounds()
	for n := range 1000 {
		addRound(req, n, page(n, 4))
	}
	tries := 0
	dropped := toolresult.Drop(req, func() bool { tries++; return len(req.Contents) <= 1002 })
	if dropped.Messages != 1000 || !dropped.Fits || tries > 15 {
		t.Errorf("%+v in %d tries", dropped, tries)
	}
}

func TestDropLeavesTheContentsAlone(t *testing.T) {
	t.Parallel()
	req, same := chat(), chat()
	contents := req.Contents
	toolresult.Drop(req, func() bool { return false })
	if !reflect.DeepEqual(contents, same.Contents) {
		t.Error("the list of contents that the caller may hold was changed")
	}
}

func ExampleDrop() {
	req := chat()
	dropped := toolresult.Drop(req, func() bool { return tokens.OfContents(req.Contents) < 450 })
	fmt.Println(dropped.Messages, "contents dropped")
	fmt.Println(req.Contents[0].Parts[0].Text)
	// Output:
	// 4 contents dropped
	// [conversation truncated — 4 older messages omitted]
}
