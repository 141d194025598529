package values_test

import (
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/values"
)

// Each case is two messages, and the two values in them: whether the second replaces the first in what is shown.
var correctionCases = []struct {
	by1, text1, value1, by2, text2, value2 string
	replaced                               bool
}{
	// The same author says twice what something is.
	{"user", "The budget is $500 for us.", "$500", "user", "The budget is $650 for us.", "$650", true},
	{"user", "My passport number is X4829917.", "X4829917", "user", "My passport number is Z1122334.", "Z1122334", true},
	{"user", "The deadline is March 14, 2026.", "March 14, 2026", "user", "The deadline is March 21, 2026.", "March 21, 2026", true},
	{"user", "The deadline is 2026-03-14.", "2026-03-14", "user", "The deadline is 2026-03-21.", "2026-03-21", true},
	{"user", "The meeting is at 3:30 pm.", "3:30 pm", "user", "The meeting is at 4:15 pm.", "4:15 pm", true},
	{"user", "The room number is B12.", "B12", "user", "The room number is C07.", "C07", true},
	{"user", "Our discount is 17% for members.", "17%", "user", "Our discount is 20% for members.", "20%", true},
	{"user", "The port is 8080 on it.", "8080", "user", "The port is 9090 on it.", "9090", true},
	{"user", "Version: v1.2.3 of it", "v1.2.3", "user", "Version: v1.3.0 of it", "v1.3.0", true},
	{"bot", "The total is $48.50 then.", "$48.50", "bot", "The total is $44.10 then.", "$44.10", true},
	{"bot", "The gate is A17 for you.", "A17", "bot", "The gate is B22 for you.", "B22", true},
	{"user", "My favorite color is dark green.", "dark green", "user", "My favorite color is light blue.", "light blue", true},
	// Cue words.
	{"user", "I booked flight KL1234 for us.", "KL1234", "user", "Actually, I booked flight KL5678 for us.", "KL5678", true},
	{"user", "Please reserve a table, party size 4 people.", "4 people", "user", "Correction: party size 6 people.", "6 people", true},
	{"user", "We leave the hotel March 3.", "March 3", "user", "Changed to another day: leave the hotel March 5.", "March 5", true},
	{"user", "The budget is $500 for us.", "$500", "bot", "Actually, the budget is $650 in the file.", "$650", true},
	{"bot", "The gate is A17 for you.", "A17", "user", "No, the gate is actually B22 now.", "B22", true},
	{"user", "Delivery date 2026-04-01 please.", "2026-04-01", "user", "I meant delivery date 2026-04-08 please.", "2026-04-08", true},
	{"user", "Send seat number 12A to them.", "12A", "user", "Sorry, make that seat number 14C.", "14C", true},
	// Another author without a cue word says something of its own.
	{"user", "The budget is $500 for us.", "$500", "bot", "The budget is $650 in the file.", "$650", false},
	{"bot", "The gate is A17 for you.", "A17", "user", "The gate is B22 for me.", "B22", false},
	{"user", "The meeting is at 3:30 pm.", "3:30 pm", "bot", "The meeting is at 4:15 pm.", "4:15 pm", false},
	// Two events of one kind are two facts.
	{"user", "I bought apples for $5 there.", "$5", "user", "I bought apples for $7 there.", "$7", false},
	{"user", "We ate 2 apples there.", "2 apples", "user", "We ate 3 apples there.", "3 apples", false},
	{"user", "I ran 5 miles today.", "5 miles", "user", "I ran 8 miles today.", "8 miles", false},
	{"user", "I visited the dentist on March 3, 2026.", "March 3, 2026", "user", "I visited the dentist on April 9, 2026.", "April 9, 2026", false},
	{"user", "Cancel order ORD-17 please.", "ORD-17", "user", "Cancel order ORD-18 please.", "ORD-18", false},
	{"user", "See ticket TCK-1 please.", "TCK-1", "user", "See ticket TCK-2 please.", "TCK-2", false},
	{"user", "We walked for ten minutes.", "ten minutes", "user", "We walked for twenty minutes.", "twenty minutes", false},
	{"bot", "I found flight UA100 there.", "UA100", "bot", "I found flight UA200 there.", "UA200", false},
	// Something else is said.
	{"user", "The budget is $500 for us.", "$500", "user", "The rent is $650 for us.", "$650", false},
	{"user", "The first meeting is at 3:30 pm.", "3:30 pm", "user", "The second meeting is at 4:15 pm.", "4:15 pm", false},
	{"user", "The budget is $500 for us.", "$500", "user", "Actually, the deposit is $200 for us.", "$200", false},
	{"user", "Anna's birthday is March 3.", "March 3", "user", "Peter's birthday is April 9.", "April 9", false},
	{"user", "The meeting date is 2026-03-14.", "2026-03-14", "user", "The meeting is at 4:15 pm.", "4:15 pm", false},
	{"user", "The weight is 80 kg now.", "80 kg", "user", "The weight is 176 lb now.", "176 lb", false},
	{"user", "Flight KL1234 is at gate A17.", "A17", "user", "Flight UA100 is at gate B22.", "B22", false},
	{"user", "My sister is 35 years old.", "35 years", "user", "My brother is 41 years old.", "41 years", false},
	// Names, titles, paths and links have no words that say what they are.
	{"user", "Then I met Anna Lee there.", "Anna Lee", "user", "Actually, I met Peter Lee there.", "Peter Lee", false},
	{"user", "I read “Blue Nights” there.", "Blue Nights", "user", "I read “Salt Water” there.", "Salt Water", false},
	{"user", "Open cmd/main.go first.", "cmd/main.go", "user", "Actually, open cmd/root.go first.", "cmd/root.go", false},
	{"user", "It is at https://example.com/a there.", "https://example.com/a", "user", "It is at https://example.com/b there.", "https://example.com/b", false},
	// Without words before them, both are shown.
	{"user", "$500 it is.", "$500", "user", "$650 it is.", "$650", false},
	{"user", "12:30 pm", "12:30 pm", "user", "Actually 1:45 pm", "1:45 pm", false},
	{"user", "March 3, 2026.", "March 3, 2026", "user", "Actually March 5, 2026.", "March 5, 2026", false},
	// Chinese.
	{"user", "会议时间是3月5号。", "3月5号", "user", "会议时间改成了3月8号。", "3月8号", false},
	{"user", "预算是500元。", "500元", "user", "更正，预算是650元。", "650元", true},
	{"user", "我的生日是5月6号。", "5月6号", "user", "其实我的生日是5月9号。", "5月9号", true},
	{"user", "航班号是CA1234。", "CA1234", "user", "说错了，航班号是CA5678。", "CA5678", true},
	{"user", "会议日期是3月5号。", "3月5号", "user", "记错了，会议日期是3月8号。", "3月8号", true},
	{"user", "我买了三本小说。", "三本小说", "user", "我买了五本小说。", "五本小说", false},
	{"user", "我跑了5公里。", "5公里", "user", "我跑了8公里。", "8公里", false},
	{"user", "我昨天去了厦门。", "去了厦门", "user", "我今天去了上海。", "去了上海", false},
	{"user", "我在看《活着》。", "活着", "user", "我在看《兄弟》。", "兄弟", false},
	{"user", "房租是500元。", "500元", "user", "更正，押金是650元。", "650元", false},
	{"user", "预算是500元。", "500元", "bot", "预算是650元。", "650元", false},
	{"user", "电影三点开始。", "三点", "user", "晚饭六点开始。", "六点", false},
	{"user", "我妹妹今年20岁。", "20岁", "user", "我弟弟今年18岁。", "18岁", false},
	{"user", "我喜欢川菜。", "喜欢川菜", "user", "我喜欢粤菜。", "喜欢粤菜", false},
	{"user", "我叫李雪梅。", "李雪梅", "bot", "我叫小助手。", "小助手", false},
	{"user", "这里住了两周。", "两周", "user", "那里住了三周。", "三周", false},
	{"user", "一共120人参加。", "120人", "user", "大概80人迟到。", "80人", false},
}

func TestCorrections(t *testing.T) {
	t.Parallel()
	if len(correctionCases) < 60 {
		t.Errorf("%d cases", len(correctionCases))
	}
	missed := 0
	for _, r := range correctionCases {
		first := values.Of([]*session.Event{said(r.by1, r.text1, 0)}, nil, nil)
		second := values.Of([]*session.Event{said(r.by2, r.text2, 60)}, nil, nil)
		if !find(first, r.value1) || !find(second, r.value2) {
			t.Errorf("%q, %q: the values are not found: %q, %q", r.text1, r.text2, texts(first), texts(second))
			continue
		}
		kept := values.Merge(1000, first, second)
		if !find(kept, r.value1) {
			t.Errorf("%q: the earlier value is not kept: %q", r.text1, texts(kept))
		}
		for _, shown := range []string{values.Block(1000, nil, first, second), values.Block(1000, nil, second, first), values.Block(1000, nil, kept)} {
			if !strings.Contains(shown, r.value2) {
				t.Errorf("%q, %q: the later value is missing: %q", r.text1, r.text2, shown)
			}
			if gone := !strings.Contains(shown, r.value1); gone && !r.replaced {
				t.Errorf("%q, %q: wrongly replaced: %q", r.text1, r.text2, shown)
			} else if !gone && r.replaced {
				t.Logf("not seen as a correction: %q, %q: %q", r.text1, r.text2, shown)
				missed++
				break
			}
		}
	}
	// A missed correction shows two values, with the later one last. A wrong one loses a value, so none may be.
	if missed > 3 {
		t.Errorf("%d corrections are missed", missed)
	}
}
