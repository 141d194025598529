package said_test

import (
	"fmt"
	"slices"
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

// of returns what the user said in events that nothing comes before.
func of(events []*session.Event, person func(*session.Event) bool, redact func(string) string) []record.Value {
	answers, _ := said.Answers(events, false, nil, time.Time{})
	list := said.Of(events, answers, person, redact)
	return list
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
		got := strings.Join(texts(of(messages(text), nil, nil)), "|")
		got = strings.ReplaceAll(got, "  (", " (")
		if got != want {
			t.Errorf("%q is kept as %q, want %q", text, got, want)
		}
	}
}

// The answer to a question for a secret is left out, whoever asked. So is a message of one word with digits.
func TestAnAnswerMayBeASecret(t *testing.T) {
	t.Parallel()
	for _, r := range []struct{ before, says, want string }{
		{"My password is:", "hunter two", ""},
		{"What is your PIN?", "It begins with four, then seven.", ""},
		{"Wie lautet dein Passwort?", "Das vom letzten Mal. Und schick die Rechnung an die Firma.", "(left out: may be a secret)\n Und schick die Rechnung an die Firma."},
		{"I am done.", "4711", ""},
		{"I am done.", "Never push.", "Never push."},
		{"Your PIN is safe. What is next?", "Book the flight to Oslo.", "Book the flight to Oslo."},
	} {
		for _, author := range []string{"user", "agent"} {
			events := messages(r.before, r.says)
			events[0].Author = author
			list := of(events, nil, nil)
			got := ""
			for _, s := range list {
				if s.Event == "e2" {
					got = s.Text
				}
			}
			if got != r.want {
				t.Errorf("behind %q of the %s, %q is kept as %q, want %q", r.before, author, r.says, got, r.want)
			}
		}
	}
}

// A secret has many names, and may stand on a line behind them.
func TestASecretIsLeftOutWhateverItIsCalled(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"OPENAI_KEY = XX", "OPENAI_KEY is XX", "STRIPE_KEY: XX", "PGPASSWORD=XX", "Set DB_PASS to XX", "my pass phrase is XX", "My pw XX", "one-time code XX",
		"La clave es XX", "Mi contrasena es XX", "Passwörter: XX", "Geheimzahl: XX", "API-Schlüssel XX", "Zugangsdaten: XX", "clé API: XX", "identifiants: XX", "chave de API XX",
		"parola d’accesso: XX", "Moje hasło to XX", "heslo je XX", "mijn wachtwoord is XX", "mitt lösenord är XX", "passordet er XX", "salasanani on XX", "şifrem XX", "jelszó: XX",
		"Мой пин XX", "пин-код XX", "мой новый пароль: XX", "секретный ключ XX", "mật khẩu là XX", "비밀번호는 XX", "密碼是XX", "我的PIN码是XX", "كلمة المرور XX", "סיסמה: XX", "รหัสผ่าน XX",
		"My passwords:\n- bank XX\n- mail XX", "Here are the credentials.\nuser ada\nXX", "api key:\n```\nXX\nXX\n```", "Seed phrase:\n1 XX\n2 XX", "Password:\n\nXX",
	} {
		text = strings.ReplaceAll(text, "XX", "blue horse nine")
		got := strings.Join(texts(of(messages("Never push. "+text+"\n\nThat is it.\n\nThen go on."), nil, nil)), "|")
		if strings.Contains(got, "horse") || !strings.HasPrefix(got, "Never push.") || !strings.HasSuffix(got, "Then go on.") {
			t.Errorf("%q is kept as %q", text, got)
		}
	}
}

// A merge takes over what an earlier record has: nothing more is lost each time.
func TestWhatIsTakenOverStaysAsItIs(t *testing.T) {
	t.Parallel()
	same := func(text string) string { return text }
	list := of(messages("Book it. My password is hunter22. Send the bill to the firm. Never call.", "Here it is: PIN:\n4711\n5822\n\nThen go on.", strings.Repeat("long ", 5_000)), nil, same)
	if got := said.Redacted(list, same); len(list) != 3 || !slices.Equal(texts(got), texts(list)) {
		t.Errorf("%.300q is taken over as %.300q", texts(list), texts(got))
	}
}

// A live agent's words may be there as a transcription alone, and a part may be missing.
func TestEventsWithoutTextsAreLeftOut(t *testing.T) {
	t.Parallel()
	missing := message(2, "")
	missing.Content.Parts = []*genai.Part{nil, {InlineData: &genai.Blob{}}}
	if list := of([]*session.Event{missing, nil}, nil, nil); len(list) > 0 {
		t.Errorf("kept %q", texts(list))
	}
}

func spoken(n int, in, out string) *session.Event {
	ev := message(n, "")
	ev.Author, ev.Content = "agent", nil
	if in != "" {
		ev.InputTranscription = &genai.Transcription{Text: in}
	}
	if out != "" {
		ev.OutputTranscription = &genai.Transcription{Text: out}
	}
	return ev
}

// ADK stores what the user says aloud under the agent's name. What the agent says aloud may ask for a secret, too.
func TestWhatIsSpokenIsKept(t *testing.T) {
	t.Parallel()
	first := spoken(1, "Never push to main.", "")
	list := of([]*session.Event{first, spoken(2, "", "I never do."), spoken(3, "", "What is your PIN?"), spoken(4, "It is the four numbers of my street.", ""), spoken(5, "Use the spare key.", "I shall."), spoken(6, "", "")}, nil, nil)
	if got, want := strings.Join(texts(list), "|"), "Never push to main.|Use the spare key."; got != want {
		t.Errorf("kept %q, want %q", got, want)
	}
	if !said.Holds(first, "Never push to main.") || said.Holds(spoken(2, "", "Never push to main."), "Never push to main.") {
		t.Error("what the user said does not hold, or what the agent said does")
	}
}

func TestInstructionsAreFoundByWholeWordsOnAnyLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Some context here\nDelete the logs":      true,
		"These things:\n* Rename the file":        true,
		"A nonstop flight, and then stop the job": true,
		"I like mustard":                          false,
		"It was mild on that day":                 false,
		"不要发货":                                    true,
	} {
		if got := said.Instructs(text); got != want {
			t.Errorf("%q instructs: %t", text, got)
		}
	}
}

func TestFewerKeepsTheFirstAndTheNewestInstructions(t *testing.T) {
	t.Parallel()
	list := of(messages("I move to Oslo soon.", "The weather is mild today.", "The weather was mild, too.", "Never push."), nil, nil)
	if got := strings.Join(texts(said.Fewer(list)), "|"); got != "I move to Oslo soon.|Never push." {
		t.Errorf("kept %q", got)
	}
	if left := said.Fewer(said.Fewer(said.Fewer(said.Fewer(said.Fewer(list))))); len(left) > 0 {
		t.Errorf("%q is left", texts(left))
	}
}

// A text holds if its fragments are in the message, also where a cut is within a word.
func TestATextHoldsIfItsMessageHasIt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("我的订单不要发货", 1_000)
	for _, r := range []struct {
		message, text string
		want          bool
	}{
		{long, texts(of(messages(long), nil, nil))[0], true},
		{"Refund the order of Ada.", "Refund the order of (name).", true},
		{"Refund the order.", "Delete all accounts now.", false},
		{"Refund the order.", "(... cut ...)", false},
		{"Refund the order.", "", false},
	} {
		if got := said.Holds(message(1, r.message), r.text); got != r.want {
			t.Errorf("%.40q holds for %.40q: %t", r.text, r.message, got)
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
	list := of(messages(lines...), nil, nil)
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
	list := of(messages(long, "And never push."), nil, nil)
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
		list := of(messages(text), nil, func(text string) string { seen += len(text); return text })
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

// Each message is looked at once when it is summarized, and what a merge looks at again is bounded, however many there were.
// What was said again and again takes up the room of one message.
func TestAHundredThousandMessagesAreLookedAtOnce(t *testing.T) {
	t.Parallel()
	const windows, each = 100, 1_000
	looked := 0
	redact := func(text string) string { looked++; return text }
	var kept []record.Value
	for w := range windows {
		var events []*session.Event
		for i := range each {
			events = append(events, message(w*each+i, []string{"Blue", "Stop", "Wall", "ok"}[i%4]))
		}
		looked = 0
		list := of(events, nil, redact)
		if looked != each {
			t.Fatalf("window %d: %d texts are looked at", w, looked)
		}
		looked = 0
		kept = said.Merge(said.Redacted(kept, redact), list)
		if looked > 1024 || len(kept) > 1024 {
			t.Fatalf("merge %d: %d texts are looked at, %d are kept", w, looked, len(kept))
		}
	}
	if block := said.Block(1000, kept); strings.Count(block, "\n- ") != 3 {
		t.Errorf("what was said again and again displaces the rest: %s", block)
	}
}

func TestMergesKeepEachMessageOnce(t *testing.T) {
	t.Parallel()
	a := of(messages("Use blue.", "Use red instead."), nil, nil)
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
