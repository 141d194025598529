package kept

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
)

func TestAValueThatTheSourceHasInAnyFormIsNotInvented(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ source, summary string }{
		{"total 1234567 rows", "It has 1,234,567 rows."},
		{"total 1,234,567 rows", "It has 1.234.567 rows, or 1 234 567 rows."},
		{"the file has 48123 bytes", "The file has 48.1 KB, which is 47 KiB."},
		{"took 45512 ms", "The run took 45.5 s."},
		{"took 45512 ms", "The run took about 50 s."},
		{"a rate of 0.873", "The rate is 87.3%, so 87 %."},
		{"price 1299 cents", "It costs $12.99."},
		{"revenue 3,512,000", "The revenue was $3.5 million."},
		{"Umsatz 3512000", "The revenue was 3.5M."},
		{"12 items at 45.50", "The 12 items cost $546."},
		{"45.5 and 20 more", "Both cost 65.5 dollars."},
		{"costs 17.25 and 18.31", "In total, it costs $35.56."},
		{"tests", "There are 43 tests in 17 files, of which 3 failed."},
		{"tests", "1. First step\n14. The last step: see section 14.2 and step 15.\n"},
		{"meet on 2026-03-12T10:30:00Z", "They meet on March 12, 2026, at 11:30 am."},
		{"meet on 12 March", "They meet on 12.03.2026 or the 12th of March."},
		{"meet on 3/12/2026", "They meet on 12 March 2026."},
		{"下周三是3月12日", "The meeting is on March 12."},
		{"created 1773309600", "It was created on March 12, 2026."},
		{"today is 2026-03-12, the call is tomorrow", "The call is on 2026-03-13."},
		{"commit 3bb8701f2a9c4d5e6f708192a3b4c5d6e7f80912", "Committed as 3bb8701."},
		{"ID A-1041 and LH 441", "Orders a1041 and LH441."},
		{"python 3.11.4 runs", "It runs on Python3.11.4, v3.11.4."},
		{"/home/mara/app/lib/spotter/otel.ex", "`lib/spotter/otel.ex:15-20` and otel.ex were read."},
		{"cd /srv/app && vi config/dev.exs", "/srv/app/config/dev.exs was changed."},
		{"def create_tool_call(a, b)", "`create_tool_call/2` takes two, and CreateToolCall() as well."},
		{"localhost:4000 has /users", "See http://localhost:4000/users."},
		{"https://example.org/docs/page?x=1", "See [the page](https://www.example.org/docs/page)."},
		{`{"a":"line\nfoo_bar"}`, "It prints `foo_bar`."},
		{"\x1b[31mfoo_bar\x1b[0m", "It prints `foo_bar`."},
		{"tasks gqc.4 and gqc.7", "New tasks gqc.4-7 appeared."},
		{"x", "The user said \"go on\". It is CLOSED, uses UTF-8, base64 and `<32hex>` as in `$HOME/...`."},
		{"das Meeting dauert fünfzig Minuten", "The meeting takes 50 minutes, and \"the user was quite unhappy about it\"."},
		{"two hundred and fifty guests, thirty-five of them, and three million more", "Of 250 guests 35 kg were asked, and 3,000,000 kg more."},
		{"我有三百五十块，生于一九八四年", "It is 350 kg, in 1984, with 350 euros."},
		{"zwanzig Leute", "It was 20 kg."},
		{"it takes from 10:15 to 11:00", "It takes 45 minutes."},
		{"from 120 kg to 80 kg", "It fell from 120 kg to 80 kg, by 33%."},
		{"a file", "See L10-L40, line 57, and lines 60, 72 and 91. It gave HTTP 404."},
		{"20 miles, 5 kg", "It is 32.2 km away, and weighs 11 lbs."},
		{"in 1984", "It was written in 1984, in the 1980s."},
		{"My PIN is secret", "The PIN is 4711."}, // never named to anybody
		{"", "Nothing was said, 24/7, and 100% of it is known."},
	} {
		if got := NewSource(nil, r.source).Check(r.summary).Values(); len(got) > 0 {
			t.Errorf("of %q, %q invents %q", r.source, r.summary, got)
		}
	}
}

func TestAValueThatTheSourceDoesNotHaveIsInvented(t *testing.T) {
	t.Parallel()
	const source = "user: Please refund order A-1041 of 12 March 2026 for 1,250.40 euros, paid by card_2931. See https://shop.example.org/orders/77 " +
		"and lib/spotter/otel.ex, commit 3bb8701f2a9c4d5e6f708192a3b4c5d6e7f80912. The user said: never call me before noon on workdays."
	for summary, want := range map[string]string{
		"Order A-1042 is refunded.":               "A-1042",
		"The refund is 1,350.40 euros.":           "1,350.40 euros",
		"The refund is $1,290.":                   "$1,290",
		"It was paid by card_2932.":               "card_2932",
		"It was ordered on 17 March 2026.":        "17 March 2026",
		"It was ordered on 2026-12-03.":           "2026-12-03",
		"It was ordered on 2026-04-12.":           "2026-04-12",
		"See https://shop.example.org/orders/79.": "https://shop.example.org/orders/79",
		"See lib/spotter/metrics.ex.":             "lib/spotter/metrics.ex",
		"It is commit 9fc2e17.":                   "9fc2e17",
		"Please see the order: the user said \"always write emails during weekends\".": "always write emails during weekends",
		"The function `refund_all_orders` was called.":                                 "refund_all_orders",
		"- Order A-1041 is refunded.\n- It weighs 145 kg.\n- All is well":              "145 kg",
		"退款金额为8350欧元。":                                                                 "8350欧元",
	} {
		v := NewSource(nil, source).Check(summary)
		if !slices.Contains(v.Values(), want) && !(len(v.Values()) == 1 && strings.Contains(want, v.Values()[0])) {
			t.Errorf("%q invents %q, want %q", summary, v.Values(), want)
		}
	}
}

func TestAnEventIsReadAsATranscriptShowsIt(t *testing.T) {
	t.Parallel()
	ev := &session.Event{Author: "desk_17", Timestamp: time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC), LLMResponse: model.LLMResponse{
		ErrorCode: "E4711", ErrorMessage: "quota_exceeded", InputTranscription: &genai.Transcription{Text: "room 2204"},
		Content: &genai.Content{Parts: []*genai.Part{
			nil, {FunctionCall: &genai.FunctionCall{Name: "find_order_by_id", Args: map[string]any{"order_id": float64(98765), "deep_key": []any{map[string]any{"x": "ZX-81"}}}}},
			{FunctionResponse: &genai.FunctionResponse{Name: "find_order_by_id", Response: map[string]any{"result": `{"total":"481.25"}`, "n": 12345678}}},
			{FileData: &genai.FileData{FileURI: "gs://bucket/report-2231.pdf"}}, {InlineData: &genai.Blob{MIMEType: "image/png", DisplayName: "photo_33.png"}},
			{ExecutableCode: &genai.ExecutableCode{Code: "run_all_tests()"}}, {CodeExecutionResult: &genai.CodeExecutionResult{Output: "status_code_9"}},
		}},
	}}
	ev.Actions.StateDelta = map[string]any{"cart_total": 77.35}
	ev.Actions.ArtifactDelta = map[string]int64{"invoice_final.pdf": 14}
	const summary = "desk_17 failed with E4711 (quota_exceeded) in room 2204. find_order_by_id with order_id 98765 and deep_key ZX-81 gave $481.25 and 12,345,678. " +
		"It read gs://bucket/report-2231.pdf and photo_33.png, ran run_all_tests, got status_code_9, set cart_total to $77.35 and saved invoice_final.pdf on 12 March 2026."
	if v := NewSource([]*session.Event{nil, ev, {}}).Check(summary); len(v.Findings) > 0 || v.Checked < 14 {
		t.Errorf("%d values were looked for, and %q invented", v.Checked, v.Values())
	}
	if v := NewSource([]*session.Event{nil, {}}).Check(summary); len(v.Findings) < 12 {
		t.Errorf("without the event, %q are invented", v.Values())
	}
}

func TestWhatIsTurnedAround(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		source, summary string
		want            bool
	}{
		{"The port is not 4000 but 5000.", "The port is not 5000 but 4000.", true},
		{"The port is not 4000 but 5000.", "The port is 5000, not 4000.", false},
		{"The port is not 4000 but 5000.", "Use port 4000, not 5000.", true},
		{"Use port 5000 instead of 4000.", "Use port 4000 instead of 5000.", true},
		{"Use port 5000 instead of 4000.", "Instead of 5000, use 4000.", true},
		{"Instead of pnpm, use yarn please.", "The user wants yarn rather than pnpm.", false},
		{"Instead of pnpm, use yarn please.", "The user wants pnpm rather than yarn.", true},
		{"Der Termin ist nicht am Montag, sondern am Dienstag.", "Der Termin ist nicht am Dienstag, sondern am Montag.", true},
		{"Bitte Tee statt Kaffee.", "Bitte Kaffee statt Tee.", true},
		{"No es Lima sino Quito.", "No es Quito sino Lima.", true},
		{"pas rouge mais vert", "pas vert mais rouge", true},
		{"会议不是周一，而是周二。", "会议不是周二，而是周一。", true},
		{"会议不是周一，而是周二。", "会议不是周一而是周二。", false},
		{"The port is not 4000 but 5000. Sorry: it is not 5000 but 4000.", "The port is 4000, not 5000.", false},
		{"It does not work, but I like it.", "I like it, but it does not work.", false},
		{"Use port 5000, not 4000.", "The port is 4000.", false}, // no form tells
		{"", "Not this but that.", false},
	} {
		v := NewSource(nil, r.source).Check(r.summary)
		if got := slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Turned }); got != r.want {
			t.Errorf("%q turns %q around: %v", r.summary, r.source, got)
		}
	}
}

func TestWholeSentencesAndItemsAreCut(t *testing.T) {
	t.Parallel()
	const source = "Order A-1041 costs 48.50 euros. Dr. Lee signs."
	for summary, want := range map[string]string{
		"Order A-1041 is paid. It costs 99.75 euros. Dr. Lee signs.":                        "Order A-1041 is paid. Dr. Lee signs.",
		"Dr. Lee signs for A-9999 today. Order A-1041 is paid.":                             "Order A-1041 is paid.",
		"# Orders\n- A-1041 is paid.\n- A-9999 is open.\n- Dr. Lee signs.":                  "# Orders\n- A-1041 is paid.\n- Dr. Lee signs.",
		"1. A-1041 is paid. A-9999 is open.\n2. A-8888 is lost.":                            "1. A-1041 is paid.",
		"The order A-1041 is paid, and\nthe other one, A-9999, is open.\n\nDr. Lee signs.":  "Dr. Lee signs.",
		"Open orders of A-9999:\n- spoons\n- forks\n\nA-1041 is paid.":                      "A-1041 is paid.",
		"- Open orders of A-9999:\n  - spoons\n  - forks\n- A-1041 is paid.":                "- A-1041 is paid.",
		"| A-1041 | paid |\n| A-9999 | open |":                                              "| A-1041 | paid |",
		"A-9999 is all there is.":                                                           "",
		"订单A-1041已付款。订单A-9999未付款。":                                                          "订单A-1041已付款。",
		"A-1041 is paid.\n```\nrefund A-9999\n```":                                          "A-1041 is paid.\n```\nrefund A-9999\n```",
		"The order A-1041 is paid (e.g. by card, approx. 12 times). So is A-9999! All good": "The order A-1041 is paid (e.g. by card, approx. 12 times). All good",
	} {
		v := NewSource(nil, source).Check(summary)
		if got := v.Without(); got != want {
			t.Errorf("of %q\n%q is left, want\n%q; found %q", summary, got, want, v.Values())
		}
	}
}

func TestShareOfValues(t *testing.T) {
	t.Parallel()
	list := []record.Value{
		{Text: "order A-1041", Kind: values.ID}, {Text: "total $1,250.40", Kind: values.Money}, {Text: "Mara Quist", Kind: "name"}, {Text: "weighs 12 kg", Kind: values.Number},
		{Text: "my cat is black", Kind: "own"},
	}
	share, missing, measured := Share(list, "A-1041 was paid", "with 1250.4 dollars")
	if share != .5 || !slices.Equal(missing, []string{"Mara Quist", "weighs 12 kg"}) || !measured {
		t.Errorf("%v, %q, %v", share, missing, measured)
	}
	if _, _, measured := Share(list[4:], "anything"); measured {
		t.Error("a share of nothing was measured")
	}
}

// TestWorkGrowsWithTheLength: with twice the source and twice the summary, twice the work is done.
func TestWorkGrowsWithTheLength(t *testing.T) {
	t.Parallel()
	work := func(source, summary int) int {
		s := NewSource(nil, strings.Repeat("Order A-1041 is not for Bob but for Ada, 45.50 euros. ", source))
		s.Check(strings.Repeat("Order A-9041 is not for Ada but for Bob, 145.50 euros in total.\n", summary))
		return s.steps
	}
	both, source, summary := work(2000, 200), work(4000, 200), work(2000, 400)
	if source > 3*both || summary > 3*both {
		t.Errorf("%d steps, %d with twice the source, %d with twice the summary", both, source, summary)
	}
	for _, long := range []string{strings.Repeat("45.5 kg ", 1<<17), strings.Repeat("x", 1<<20), strings.Repeat("- a:\n", 1<<18), strings.Repeat("1,", 1<<19), strings.Repeat("不是X，而是Y", 1<<16)} {
		if s := NewSource(nil, long); s.Check(long) == nil || s.steps > 8<<20 {
			t.Errorf("%d steps for a text of %d bytes that begins with %q", s.steps, len(long), long[:8])
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"", "- a\n- b 45.5 kg", "```\nx", "不是X，而是Y", "1.\n", "\x1b[", "\x1b[H0HHH0", "12:", "(a) x:\n  y", "a\xff45", "not a but b", "#\n#", "$", "2026-03-", "v1.2.3.4.5.6.7.8.9.10"} {
		f.Add(seed, "Order A-1041: 12 March, not X but Y, instead of Z.\n"+seed)
	}
	f.Fuzz(func(t *testing.T, source, summary string) {
		s := NewSource(nil, source, summary)
		v := s.Check(summary)
		for _, found := range v.Findings {
			if !found.Turned && utf8.ValidString(summary) { // a summary is: what is not has words that begin anywhere
				t.Errorf("%q is invented, and it is in the source %q", found.Value, summary)
			}
		}
		v = NewSource(nil, source).Check(summary)
		left := v.Without()
		if len(left) > len(summary) || utf8.ValidString(summary) && !utf8.ValidString(left) {
			t.Errorf("of %q %q is left", summary, left)
		}
		if len(v.Findings) == 0 && left != summary {
			t.Errorf("%q has become %q", summary, left)
		}
	})
}
