package values_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

var day = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

// said is a message, minutes after the beginning.
func said(author, text string, minutes int) *session.Event {
	return event(author, minutes, genai.NewPartFromText(text))
}

func event(author string, minutes int, parts ...*genai.Part) *session.Event {
	role := genai.Role(genai.RoleModel)
	if author == "user" {
		role = genai.RoleUser
	}
	return &session.Event{
		ID: fmt.Sprintf("e%d", minutes), Author: author, Timestamp: day.Add(time.Duration(minutes) * time.Minute),
		LLMResponse: model.LLMResponse{Content: genai.NewContentFromParts(parts, role)},
	}
}

func texts(list []record.Value) []string {
	var out []string
	for _, v := range list {
		out = append(out, v.Text)
	}
	return out
}

func find(list []record.Value, text string) bool {
	for _, v := range list {
		if strings.Contains(v.Text, text) {
			return true
		}
	}
	return false
}

// Each kind of value is found.
func TestValuesAreFound(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ text, want string }{
		{"My passport number is X4829917, as I told you.", "passport number X4829917"},
		{"Please cancel order ORD-17 today.", "order ORD-17"},
		{"The flight leaves on March 14, 2026 at 7:45 am.", "March 14, 2026"},
		{"The flight leaves at 7:45 am from Oslo.", "7:45 am"},
		{"We meet on 2026-05-01 again.", "2026-05-01"},
		{"The dentist is on Friday at 3pm.", "Friday at 3pm"},
		{"I paid $1,249.50 for it.", "$1,249.50"},
		{"The discount was 17% for me.", "17%"},
		{"We expect 25 guests for dinner.", "25 guests"},
		{"It takes 10-15 minutes by bus.", "10-15 minutes"},
		{"I was born in 1984 there.", "1984"},
		{"I have lived here for ten years now.", "ten years"},
		{"Then we saw Lake Tahoe together.", "Lake Tahoe"},
		{"Have you read “The Left Hand of Darkness” yet?", "The Left Hand of Darkness"},
		{"Run `go test ./...` first.", "go test ./..."},
		{"Look at internal/values/block.go please.", "internal/values/block.go"},
		{"See https://example.com/a/b?c=d for that.", "https://example.com/a/b?c=d"},
		{"Write to ann.lee@example.com soon.", "ann.lee@example.com"},
		{"The function parseConfig fails, and so does max_retries.", "parseConfig"},
		{"The function parseConfig fails, and so does max_retries.", "max_retries"},
		{"我最近在看《何以笙箫默》，很好看。", "何以笙箫默"},
		{"我的生日是5月6号，你呢？", "5月6号"},
		{"蒸锅里蒸10分钟左右就可以了。", "10分钟"},
		{"我买了三本小说。", "三本小说"},
		{"我最近去了厦门，非常美丽。", "厦门"},
		{"你好，我叫张曼婷，很高兴。", "张曼婷"},
		{"My favorite color is dark green.", "favorite color is dark green"},
	} {
		if got := values.Of([]*session.Event{said("user", r.text, 0)}, nil, nil); !find(got, r.want) {
			t.Errorf("%q: got %q, want %q", r.text, texts(got), r.want)
		}
	}
}

// The user's values come first among equals, and a value that was mentioned again before others.
// Each text has the values, and none of what follows them.
var choices = []struct {
	text string
	want []string
	not  []string
}{
	{"Something is wrong with the wool rug 170 x 240: the rug is 160 and not 170 cm wide.", []string{"wool rug 170 x 240", "rug 160", "rug 170 cm"}, []string{"rug x", "x rug"}},
	{"The glasses are cracked: two of the six glasses.", []string{"six glasses"}, []string{"glasses two"}},
	{"I ordered a set of 6 hand-blown glasses.", []string{"6 hand-blown glasses"}, nil},
	{"The other box came after eleven business days.", []string{"eleven business days"}, nil},
	{"Brand & Sohn carries it.", []string{"Brand & Sohn"}, nil},
	{"It is on its way and arrives within 5 days.", []string{"arrives 5 days"}, []string{"way"}},
	{"She wants the money back for A-1041 and R-17.", []string{"A-1041", "R-17"}, []string{"money"}},
	{"We had to refund order A-1041. Order A-1041 is done.", []string{"A-1041"}, []string{"| Order"}},
	{"She is right more often than I like to admit.", nil, []string{"admit"}},
	{"My boss is very demanding, my routine is working, and my favorite dish is lasagna.", []string{"lasagna"}, []string{"demanding", "working"}},
	{"我们第一次聊天。", nil, []string{"第一次"}},
	{"比如昨天晚上我在准备攀岩用的东西。", nil, []string{"准备"}},
	{"**Reservation ID:** EHGLP3, and Anna Lee pays.", []string{"EHGLP3", "Anna Lee"}, []string{"Reservation ID |"}},
	{"That is all, ###STOP### and </command-message> in the UI.", nil, []string{"STOP", "command", "UI"}},
	{"The option is \"false\". A pressure of 12 mmHg is low.", []string{"12 mmHg"}, []string{"false"}},
}

func TestAValueSaysWhatItIsAndNoMore(t *testing.T) {
	t.Parallel()
	for _, c := range choices {
		block := values.Block(1000, nil, values.Of([]*session.Event{said("user", c.text, 0)}, nil, nil))
		for _, want := range c.want {
			if !strings.Contains(block, want) {
				t.Errorf("%q lacks %q: %q", c.text, want, block)
			}
		}
		for _, not := range c.not {
			if strings.Contains(block, not) {
				t.Errorf("%q has %q: %q", c.text, not, block)
			}
		}
	}
	log := event("desk", 0, &genai.Part{FunctionResponse: &genai.FunctionResponse{Name: "run", Response: map[string]any{"text": "\x1b[31mErrorCode is set\\nFindingList in C.go"}}})
	for _, redact := range []func(string) string{nil, func(s string) string { return s }} {
		found := values.Of([]*session.Event{log}, nil, redact)
		if got := strings.Join(texts(found), " | "); strings.Contains(got, "31m") || strings.Contains(got, "nFinding") || !strings.Contains(got, "FindingList") {
			t.Errorf("escapes stick to words: %q", got)
		}
		for _, v := range found {
			if !values.Holds(log, v) {
				t.Errorf("the event does not have %q any more", v.Text)
			}
		}
	}
	answer := event("desk", 0, &genai.Part{FunctionResponse: &genai.FunctionResponse{Name: "look_up", Response: map[string]any{"cabin": "basic_economy", "origin": "JFK"}}})
	if got := texts(values.Of([]*session.Event{answer}, nil, nil)); !slices.Contains(got, "cabin basic_economy") || !slices.Contains(got, "origin JFK") {
		t.Errorf("the fields of a result do not say what their values are: %q", got)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	got := texts(values.Of([]*session.Event{
		said("bot", "Take KLM-2211 then.", 0), said("user", "Take KLM-3311 then.", 1), said("bot", "Take KLM-4411 then.", 2),
		said("bot", "Was it KLM-4411 again?", 3), said("bot", "Yes, KLM-4411 it was.", 4), said("bot", "KLM-4411 is on time.", 5),
	}, nil, nil))
	want := []string{"KLM-4411", "KLM-3311", "KLM-2211"}
	for i, text := range want {
		if i >= len(got) || !strings.Contains(got[i], text) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	list := values.Of([]*session.Event{
		said("user", "Cancel order ORD-17 please.", 0), said("bot", "The refund is $48.50 then.", 1), said("bot", "See ticket TCK-9 too.", 24*60),
	}, nil, nil)
	const want = "Exact values from these messages: user, 2 Mar 2026: order ORD-17 | bot, 2 Mar 2026: refund $48.50 | bot, 3 Mar 2026: ticket TCK-9"
	if got := values.Block(600, nil, list); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := values.Block(600, []string{"They canceled ord-17."}, list); strings.Contains(got, "ORD-17") || !strings.Contains(got, "TCK-9") {
		t.Errorf("a value that a summary has is repeated: %q", got)
	}
	if got := values.Block(600, []string{"They canceled ORD-171."}, list); !strings.Contains(got, "ORD-17 ") {
		t.Errorf("another order counts as said: %q", got)
	}
	for n := range 60 {
		if got := values.Block(n, nil, list); tokens.Estimate(got) > n && got != "" {
			t.Errorf("%d tokens for %d", tokens.Estimate(got), n)
		}
	}
}
