package said_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/said"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

func message(n int, text string) *session.Event {
	return &session.Event{
		ID: fmt.Sprintf("e%d", n), Author: "user", Timestamp: time.Unix(int64(n), 0),
		LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleUser)},
	}
}

func messages(texts ...string) []*session.Event {
	var out []*session.Event
	for i, text := range texts {
		out = append(out, message(i+1, text))
	}
	return out
}

func texts(list []record.Value) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.Text)
	}
	return out
}

// What the user said is kept as it was written. What no person wrote, what says nothing any more and what may be a secret is
// not.
func TestWhatAPersonSaysIsKeptWordForWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Never call the customer.":   "Never call the customer.",
		"  Two lines:\n\tone\n":      "Two lines:\n\tone",
		"我的订单不要发货。":                  "我的订单不要发货。",
		"أرسل الطلب غدا":             "أرسل الطلب غدا",
		"ok":                         "",
		"Yes, please go on. Thanks!": "",
		"好的，谢谢":                      "",
		"<task-notification>\n<id>1</id>\n</task-notification>":                      "",
		"<notice>The build is done.</notice>":                                        "",
		"<task-notification></task-notification>\nRead it: a.go":                     "",
		"<b>bold</b> is what I want":                                                 "<b>bold</b> is what I want",
		"< 5 items, please":                                                          "< 5 items, please",
		"[Request interrupted by user]":                                              "",
		"[x] done, [ ] open":                                                         "[x] done, [ ] open",
		"This session is being continued from a previous conversation that ran out.": "",
		"My password is hunter22, by the way.":                                       "",
		"Book it. My password of the booking page is hunter22, and it is new. Send the bill to the firm.": "Book it. " + "(left out: may be a secret)" + "\n Send the bill to the firm.",
		"with NUL \x00 and ESC \x1b[2J": "with NUL  and ESC [2J",
		"bad \xff bytes":                "bad \uFFFD bytes",
	} {
		got := strings.Join(texts(said.Of(messages(text), nil, nil)), "|")
		got = strings.ReplaceAll(got, "  (", " (")
		if got != want {
			t.Errorf("%q is kept as %q, want %q", text, got, want)
		}
	}
}

func TestTheBlockHasWhatInstructsFirst(t *testing.T) {
	t.Parallel()
	var lines []string
	lines = append(lines, "I have a question about a flight to Oslo.")
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("The weather in town %d was rather mild on that day, they said.", i))
	}
	lines[20] = "Never book a seat in row 13."
	list := said.Of(messages(lines...), nil, nil)
	block := said.Block(300, list)
	if n := tokens.Estimate(block); n > 300 || n < 200 {
		t.Errorf("the block has %d tokens", n)
	}
	for _, want := range []string{lines[0], lines[20], lines[60]} {
		if !strings.Contains(block, "\n- "+want) {
			t.Errorf("%q is missing in\n%s", want, block)
		}
	}
	if strings.Index(block, lines[20]) > strings.Index(block, lines[60]) {
		t.Error("the block is not in the order of time")
	}
}

func TestALongMessageIsShownInPart(t *testing.T) {
	t.Parallel()
	long := "Mend this log. " + strings.Repeat("line of a log\n", 100_000) + " The cause is in the end."
	list := said.Of(messages(long, "And never push."), nil, nil)
	block := said.Block(400, list)
	if n := tokens.Estimate(block); n > 400 {
		t.Errorf("the block has %d tokens", n)
	}
	for _, want := range []string{"Mend this log.", "The cause is in the end.", "cut", "And never push."} {
		if !strings.Contains(block, want) {
			t.Errorf("%q is missing in\n%s", want, block)
		}
	}
}

// TestAHugeMessageCostsNoMoreThanALongOne: its middle is in no record, so nothing looks at it.
func TestAHugeMessageCostsNoMoreThanALongOne(t *testing.T) {
	t.Parallel()
	for name, middle := range map[string]string{
		"lines": "line of a log\n", "sentences": "It is so. ", "one word": "abc", "NUL": "\x00", "from right to left": "أرسل الطلب غدا ", "half of a key block": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n",
	} {
		text, seen := "Never push. "+strings.Repeat(middle, 10<<20/len(middle))+". Mend it instead.", 0
		list := said.Of(messages(text), nil, func(text string) string { seen += len(text); return text })
		if seen > 32<<10 {
			t.Errorf("%s: %d bytes are looked at", name, seen)
		}
		got, isKey := strings.Join(texts(list), ""), strings.Contains(middle, "KEY") // a block without an end goes on to that of the text
		if !strings.HasPrefix(got, "Never push.") || !isKey && !strings.HasSuffix(got, "Mend it instead.") || len(got) > 8<<10 {
			t.Errorf("%s: %.50q ... %q", name, got, got[max(0, len(got)-50):])
		}
		if strings.Contains(got, "MIIE") {
			t.Errorf("%s: a part of a key is kept", name)
		}
	}
}

func TestMergesKeepEachMessageOnce(t *testing.T) {
	t.Parallel()
	a := said.Of(messages("Use blue.", "Use red instead."), nil, nil)
	if got := texts(said.Merge(a[1:], a)); strings.Join(got, "|") != "Use blue.|Use red instead." {
		t.Errorf("merged into %q", got)
	}
	var many []record.Value
	for i := range 100_000 {
		many = append(many, record.Value{Text: fmt.Sprintf("Word %d", i), Event: fmt.Sprint(i), At: time.Unix(int64(i), 0)})
	}
	if n := len(said.Merge(many)); n == 0 || n > 1024 {
		t.Errorf("%d messages are kept", n)
	}
}
