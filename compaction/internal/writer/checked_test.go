package writer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// scripted gives one text after the other, the last one for ever. A text "hang" never comes, and one "fail" is an error.
type scripted struct {
	texts  []string
	again  []string // what each call was told
	model  string
	pieces int // how many calls of the model each call reports
	words  string
}

func (s *scripted) Wording(summarizer.Request) string { return s.words }

func (s *scripted) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	text := s.texts[min(len(s.again), len(s.texts)-1)]
	s.again = append(s.again, req.Again)
	req.Events[0].Author = "changed by the summarizer"
	result := summarizer.Result{Usage: tokens.Usage{PromptTokens: 100, OutputTokens: 10}, Calls: s.pieces, Model: s.model}
	switch text {
	case "hang":
		<-ctx.Done()
		return result, ctx.Err()
	case "fail":
		return result, errors.New("overloaded")
	}
	result.Content = genai.NewContentFromText(text, genai.RoleModel)
	return result, nil
}

// order is a conversation about an order, with some padding so that summaries are shorter.
func order() []*session.Event {
	var events []*session.Event
	for i, text := range []string{
		"Good morning, I am Mara Quist. Please refund order A-1041 of 12 March 2026 over 48.50 euros.",
		"Order A-1041 was sent with Nordpost, track 88412207, from warehouse Ulm-7. It weighs 2.5 kg.",
		"Send the money to account DE-5521 instead of card 9931, and never call me before noon, please.",
		"The refund of 48.50 euros to account DE-5521 is on its way. You will get a mail at mara@example.org.",
	} {
		ev := &session.Event{ID: fmt.Sprint("e", i), Author: []string{"user", "desk"}[i%2], Timestamp: time.Unix(int64(i), 0)}
		ev.Content = genai.NewContentFromText(text+strings.Repeat(" We talked about the weather for a while.", 40), genai.RoleUser)
		events = append(events, ev)
	}
	return events
}

const (
	good     = "Mara Quist asked for a refund of order A-1041 over 48.50 euros. It goes to account DE-5521."
	invented = "Mara Quist asked for a refund of order A-1041 over 48.50 euros. It goes to account DE-7788."
	without  = "Mara Quist asked for a refund of order A-1041 over 48.50 euros."
	turned   = "Mara Quist wants a refund of order A-1041. The money goes to card 9931 instead of account DE-5521."
	nothing  = "The user and the assistant talked about this and that for quite a while, and both were content with it."
)

func write(t *testing.T, by *scripted, change func(*Assignment)) (*Draft, summarizer.Result, error) {
	t.Helper()
	if by.model == "" {
		by.model = "scripted"
	}
	values := NewValues(nil, nil)
	a := Assignment{
		Window: selector.Selection{Events: order(), Tokens: 5000}, SummaryTokens: 500, Room: 2000, Timeout: 300 * time.Millisecond,
		Ledger: Ledger{Values: values, MaxTokens: 600, SaidTokens: 400, SaidWithTools: 400, Size: func([]*record.Metadata) int { return 0 }},
	}
	if change != nil {
		change(&a)
	}
	return Write(t.Context(), by, a, &learned.Attempts{})
}

// A model that does no better when it is asked again is not asked again for ever, whatever was wrong. One that does is.
func TestASecondTryThatDoesNotHelpIsMadeTwice(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		texts  []string
		hidden bool
		want   []int // calls for each summary
	}{
		"invents always":        {[]string{invented}, false, []int{2, 2, 1, 1}},
		"keeps nothing ever":    {[]string{nothing}, true, []int{2, 2, 1, 1}},
		"does better each time": {[]string{invented, good, invented, good, invented, good}, false, []int{2, 2, 2}},
		"does better once":      {[]string{invented, invented, invented, good, invented}, false, []int{2, 2, 2, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by, attempts := &scripted{texts: r.texts, model: "scripted"}, &learned.Attempts{}
			var calls []int
			for range r.want {
				a := Assignment{
					Window: selector.Selection{Events: order(), Tokens: 5000}, SummaryTokens: 500, Room: 2000, Timeout: time.Minute,
					Ledger: Ledger{Values: NewValues(nil, nil), MaxTokens: 600, SaidTokens: 400, SaidWithTools: 400, Hidden: r.hidden, Size: func([]*record.Metadata) int { return 0 }},
				}
				before := len(by.again)
				if _, _, err := Write(t.Context(), by, a, attempts); err != nil {
					t.Fatal(err)
				}
				calls = append(calls, len(by.again)-before)
			}
			if !slices.Equal(calls, r.want) {
				t.Errorf("%d calls, want %d", calls, r.want)
			}
		})
	}
}

func TestASummaryIsCheckedAgainstItsWindow(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct {
		texts  []string
		change func(*Assignment)
		by     scripted

		want     string // "" for a failure
		calls    int
		told     string // in what the second call was told
		invented int
	}{
		"true":                    {texts: []string{good}, want: good, calls: 1},
		"invents once":            {texts: []string{invented, good}, want: good, calls: 2, told: "not in the record: DE-7788"},
		"invents always":          {texts: []string{invented}, want: without, calls: 2, told: "DE-7788", invented: 1},
		"invents more":            {texts: []string{invented, invented + " It has 77.25 kg."}, want: without, calls: 2, told: "DE-7788", invented: 1},
		"nothing is left":         {texts: []string{"A-9999 is all that was said here."}, calls: 2, told: "A-9999"},
		"turned around":           {texts: []string{turned, good}, want: good, calls: 2, told: "the opposite of: money goes to card 9931 instead of account DE-5521"},
		"turned around always":    {texts: []string{turned}, want: "Mara Quist wants a refund of order A-1041.", calls: 2, told: "opposite", invented: 1},
		"the second call hangs":   {texts: []string{invented, "hang"}, want: without, calls: 2, told: "DE-7788", invented: 1},
		"the second call fails":   {texts: []string{invented, "fail"}, want: without, calls: 2, told: "DE-7788", invented: 1},
		"the second is worthless": {texts: []string{invented, "I can't help with that."}, want: without, calls: 2, told: "DE-7788", invented: 1},
		"a window in pieces":      {texts: []string{invented}, by: scripted{pieces: 3}, want: without, calls: 1, invented: 1},
		"another language":        {texts: []string{"Mara Quist bat um Erstattung der Bestellung A-1041 über 48,50 Euro vom 12. März. Das Geld geht auf Konto DE-5521."}, want: "*", calls: 1},
		"words of the prompt":     {texts: []string{good + " Ticket T-4471 is open."}, by: scripted{words: "Always name ticket T-4471."}, want: "*", calls: 1},
		"words of the focus":      {texts: []string{good + " Ticket T-4471 is open."}, change: func(a *Assignment) { a.Focus = "ticket T-4471" }, want: "*", calls: 1},
		"words of an absorbed record": {texts: []string{good + " Ticket T-4471 is open."}, change: func(a *Assignment) {
			m := &record.Metadata{RecordID: "r", Values: []record.Value{{Text: "ticket T-4471", Kind: "identifier"}}}
			_ = m.SetText("Earlier, the weather was fine.")
			a.Window.Absorb = []*record.Metadata{m}
		}, want: "*", calls: 1},
		"nothing new, ledger shown":  {texts: []string{nothing}, want: nothing, calls: 1},
		"nothing new, ledger hidden": {texts: []string{nothing, good}, change: func(a *Assignment) { a.Ledger.Hidden = true }, want: good, calls: 2, told: "leaves out values such as"},
		"nothing new, twice":         {texts: []string{nothing}, change: func(a *Assignment) { a.Ledger.Hidden = true }, want: nothing, calls: 2, told: "leaves out"},
		"nothing new, then invented": {texts: []string{nothing, invented}, change: func(a *Assignment) { a.Ledger.Hidden = true }, want: nothing, calls: 2, told: "leaves out"},
		"at the hard limit":          {texts: []string{nothing}, change: func(a *Assignment) { a.Ledger.Hidden, a.Shorter = true, 400 }, want: nothing, calls: 1},
		"a window without values": {texts: []string{nothing}, change: func(a *Assignment) {
			a.Ledger.Hidden = true
			for _, ev := range a.Window.Events {
				ev.Content = genai.NewContentFromText(strings.Repeat("we talked about this and that. ", 40), genai.RoleUser)
			}
		}, want: nothing, calls: 1},
		"no ledger":     {texts: []string{invented}, change: func(a *Assignment) { a.Ledger = Ledger{} }, want: without, calls: 2, told: "DE-7788", invented: 1},
		"not shorter":   {texts: []string{strings.Repeat(invented+"\n", 12_000)}, want: "*", calls: 1},
		"long":          {texts: []string{strings.Repeat(invented+"\n", 1_000), good}, change: func(a *Assignment) { a.Window.Tokens, a.Timeout = 1<<20, time.Minute }, want: good, calls: 2, told: "DE-7788"},
		"several named": {texts: []string{"- A-2001 is lost.\n- A-2002 is lost.\n- A-2003 is lost.\n- A-2004 is lost.\n- A-2005 is lost.\n- A-2006 is lost.\n- " + good, good}, want: good, calls: 2, told: "A-2001, A-2002, A-2003, A-2004, A-2005"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by := r.by
			by.texts = r.texts
			d, result, err := write(t, &by, r.change)
			if len(by.again) != r.calls || by.again[0] != "" {
				t.Fatalf("%d calls, want %d: they were told %q", len(by.again), r.calls, by.again)
			}
			if r.calls == 2 && (!strings.Contains(by.again[1], r.told) || r.told == "" || strings.Contains(by.again[1], "A-2006")) {
				t.Errorf("the second call was told %q, want %q", by.again[1], r.told)
			}
			if usage := 100 * r.calls; result.Usage.PromptTokens != usage || result.Calls != max(1, r.by.pieces)*r.calls && r.calls > 1 || result.Model != "scripted" {
				t.Errorf("it used %+v, want %d tokens", result, usage)
			}
			if r.want == "" {
				if !errors.Is(err, summarizer.ErrUnusable) {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d.Text != r.want && r.want != "*" || d.Meta.Invented != r.invented {
				t.Errorf("the summary is %.300q, with %d invented; want %q, %d", d.Text, d.Meta.Invented, r.want, r.invented)
			}
			if d.Meta.Usage.PromptTokens != 100*r.calls {
				t.Errorf("the record says %+v", d.Meta.Usage)
			}
		})
	}
}

// TestWhatIsKeptIsMeasured: the share counts the summary and what the record lets be shown behind it.
func TestWhatIsKeptIsMeasured(t *testing.T) {
	t.Parallel()
	share := func(text string, change func(*Assignment)) float64 {
		d, _, err := write(t, &scripted{texts: []string{text}}, change)
		if err != nil {
			t.Fatal(err)
		}
		if d.Meta.Kept == nil {
			return -1
		}
		return *d.Meta.Kept
	}
	hidden := func(a *Assignment) { a.Ledger.Hidden = true }
	little, most, all := share(nothing, hidden), share(good, hidden), share(good, nil)
	if little >= most || most >= all || all < .9 || little > .1 {
		t.Errorf("%v of the values is kept with nothing, %v with a summary alone, %v with the ledger", little, most, all)
	}
	if got := share(good, func(a *Assignment) { a.Ledger = Ledger{} }); got != -1 {
		t.Errorf("without a ledger, %v was measured", got)
	}
	if got := share(good, func(a *Assignment) { a.Extractive = true }); got != -1 {
		t.Errorf("of an extractive summary, %v was measured", got)
	}
}

// speaking is a summarizer that the app has written, with a Wording of its own.
type speaking struct {
	*scripted
	wording func() string
}

func (s speaking) Wording(summarizer.Request) string { return s.wording() }

// TestAWordingThatFailsHoldsUpNobody: it is the app's code, like the summarizer itself.
func TestAWordingThatFailsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	for name, wording := range map[string]func() string{
		"panics": func() string { panic("no") },
		"hangs":  func() string { select {} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by := speaking{&scripted{texts: []string{invented}, model: "scripted"}, wording}
			a := Assignment{Window: selector.Selection{Events: order(), Tokens: 5000}, SummaryTokens: 500, Room: 2000, Timeout: 300 * time.Millisecond}
			if d, result, err := Write(t.Context(), by, a, &learned.Attempts{}); err == nil || result.Usage.PromptTokens == 0 && name == "panics" {
				t.Errorf("%v, %+v, %v", d, result, err)
			}
		})
	}
}

// TestWhatIsRedactedIsNotNamed: a value that the app's function takes out is named to the model only if the model wrote it,
// and what the function puts in its place is no invention.
func TestWhatIsRedactedIsNotNamed(t *testing.T) {
	t.Parallel()
	redact := func(text string) string {
		return strings.NewReplacer("A-1041", "<order-1>", "DE-5521", "ACCOUNT-1", "88412207", "TRACK-1").Replace(text)
	}
	redacting := func(a *Assignment) { a.Ledger.Values, a.Ledger.Hidden = NewValues(redact, nil), true }
	by := &scripted{texts: []string{"Mara Quist gets 48.50 euros for order <order-1> to ACCOUNT-1, sent as TRACK-1, of 12 March 2026, 2.5 kg."}}
	if d, _, err := write(t, by, redacting); err != nil || len(by.again) != 1 || d.Meta.Invented != 0 {
		t.Errorf("%v, and the calls were told %q", err, by.again)
	}
	by = &scripted{texts: []string{nothing}}
	if _, _, err := write(t, by, redacting); err != nil || len(by.again) != 2 {
		t.Fatalf("%v, and the calls were told %q", err, by.again)
	}
	for _, secret := range []string{"A-1041", "DE-5521", "88412207"} {
		if strings.Contains(by.again[1], secret) {
			t.Errorf("the second call was told %q", by.again[1])
		}
	}
	by = &scripted{texts: []string{invented}}
	if d, _, err := write(t, by, redacting); err != nil || len(by.again) != 2 || d.Text != without {
		t.Errorf("%v, and the calls were told %q", err, by.again)
	}
	for name, bad := range map[string]func(string) string{
		"panics": func(string) string { panic("no") },
		"hangs":  func(string) string { select {} },
	} {
		by := &scripted{texts: []string{invented}}
		d, _, err := write(t, by, func(a *Assignment) {
			a.Ledger.Values = NewValues(bad, nil)
			a.Ledger.Values.within = 20 * time.Millisecond
		})
		if err != nil || d.Text != invented || len(by.again) != 1 {
			t.Errorf("where the function %s: %v, and the calls were told %q", name, err, by.again)
		}
	}
}

// TestOnlyAModelIsChecked: a summarizer that names no model may write what it likes, as may the extractive one.
func TestOnlyAModelIsChecked(t *testing.T) {
	t.Parallel()
	by := summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		return summarizer.Result{Content: genai.NewContentFromText(invented, genai.RoleModel)}, nil
	})
	a := Assignment{Window: selector.Selection{Events: order(), Tokens: 5000}, SummaryTokens: 500, Room: 2000, Timeout: time.Minute}
	d, _, err := Write(t.Context(), by, a, &learned.Attempts{})
	if err != nil || d.Text != invented {
		t.Errorf("%v, %v", d, err)
	}
}
