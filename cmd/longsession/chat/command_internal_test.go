package chat

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Tab completes commands, and the other sessions behind /resume.
func TestTabCompletesCommandsAndSessions(t *testing.T) {
	t.Parallel()
	svc, now := session.InMemoryService(), compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "north"}
	for _, id := range []string{"north", "north-2", "south", "north-2:sub:a"} {
		if _, err := svc.Create(t.Context(), &session.CreateRequest{AppName: now.AppName, UserID: now.UserID, SessionID: id}); err != nil {
			t.Fatal(err)
		}
	}
	c := &Chat{cfg: Config{Sessions: svc, Session: now}, commands: allCommands(Config{}), ref: now}
	for line, want := range map[string]string{
		"/resu":       "/result /resume /resume-after-cost-ceiling",
		"/resume n":   "/resume north-2",
		"/resume s":   "/resume south",
		"/resume x":   "",
		"/compact au": "",
	} {
		got := c.complete(line)
		slices.Sort(got)
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q: %q, want %q", line, text, want)
		}
	}
}

func TestAmountsToAdd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]guard.ResetOptions{
		"":                              {},
		"+2.50":                         {AddUSD: 250 * tokens.Cent},
		"2.5":                           {AddUSD: 250 * tokens.Cent},
		"+$3":                           {AddUSD: 3 * tokens.Dollar},
		"$0.000000001":                  {AddUSD: 1},
		"1 usd":                         {AddUSD: tokens.Dollar},
		"2 dollars":                     {AddUSD: 2 * tokens.Dollar},
		"+100 calls":                    {AddModelCalls: 100},
		"+1 call":                       {AddModelCalls: 1},
		"+50,000 tokens":                {AddTokens: 50_000},
		"+10m":                          {AddWall: 10 * time.Minute},
		"+1h30m":                        {AddWall: 90 * time.Minute},
		"+2.50 +100 calls +5 Tokens 1m": {AddUSD: 250 * tokens.Cent, AddModelCalls: 100, AddTokens: 5, AddWall: time.Minute},
	} {
		if got, err := parseGrant(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"lots", "0", "-1", "+-1", "NaN", "inf", "1e300", "1,50", "-5 calls", "0 tokens", "1.5 calls", "-10m", "0s", "+2.50 lots", "calls", "10 calls tokens", "99999999999999999999 tokens", "\x1b[2J"} {
		got, err := parseGrant(text)
		if err == nil || got != (guard.ResetOptions{}) || !strings.Contains(err.Error(), "/resume-after-cost-ceiling +2.50") || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %+v, error %v", text, got, err)
		}
	}
}

// What a stopped session is said to need is read back as no less.
func TestTheAmountThatIsMissingIsEnough(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]guard.ResetOptions{
		"+0.01":                           {AddUSD: 1},
		"+0.02":                           {AddUSD: tokens.Cent + 1},
		"+12.30":                          {AddUSD: 1230 * tokens.Cent},
		"+3 calls":                        {AddModelCalls: 3},
		"+1500 tokens":                    {AddTokens: 1500},
		"+1m1.5s":                         {AddWall: time.Minute + 500*time.Millisecond},
		"+0.01 +3 calls +1500 tokens +2s": {AddUSD: 1, AddModelCalls: 3, AddTokens: 1500, AddWall: time.Second},
	} {
		text := missing(&guard.ResetError{Missing: m})
		_, typed, _ := strings.Cut(text, "/resume-after-cost-ceiling ")
		got, err := parseGrant(typed)
		if typed != want || err != nil || got.AddUSD < m.AddUSD || got.AddModelCalls < m.AddModelCalls || got.AddTokens < m.AddTokens || got.AddWall < m.AddWall {
			t.Errorf("%+v: %q, read as %+v, %v", m, text, got, err)
		}
	}
}

func TestLimitsAreShownNextToWhatIsSpent(t *testing.T) {
	t.Parallel()
	for want, limit := range map[string]guard.Limits{
		"$0.0200, 3 model calls, 1,500 tokens; no limit is set":                                 {},
		"$0.0200 of $0.5000, 3 model calls, 1,500 tokens":                                       {USD: 50 * tokens.Cent},
		"$0.0200, 3 of 1 model call, 1,500 of 2,000 tokens, at most 10m0s":                      {ModelCalls: 1, Tokens: 2000, Wall: 10 * time.Minute},
		"$0.0200 of $1.0000, 3 of 5,000 model calls, 1,500 of 1,000,000 tokens, at most 1h0m0s": {USD: tokens.Dollar, ModelCalls: 5000, Tokens: 1_000_000, Wall: time.Hour},
	} {
		if got := amounts(2*tokens.Cent, 3, 1500, limit); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	granted := guard.Limits{USD: 1, ModelCalls: 2, Tokens: 3, Wall: 4}
	if got := sum(guard.Limits{}, granted); got != (guard.Limits{}) {
		t.Errorf("what is granted makes a limit of one that is off: %+v", got)
	}
	if got, want := sum(guard.Limits{USD: 10, ModelCalls: 10, Tokens: 10, Wall: 10}, granted), (guard.Limits{USD: 11, ModelCalls: 12, Tokens: 13, Wall: 14}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestASessionIsChosenByTheBeginningOfItsID(t *testing.T) {
	t.Parallel()
	all := []listed{{id: "now"}, {id: "north"}, {id: "south"}, {id: "south-2"}}
	for typed, want := range map[string]string{"north": "north", "no": "north", "n": "north", "south": "south", "south-": "south-2"} {
		if got, err := choose(all, "now", typed); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", typed, got, err, want)
		}
	}
	for typed, want := range map[string]string{
		"now":  `you are in session "now" already`,
		"s":    `2 sessions begin with "s": write more of the ID; /sessions lists them`,
		"west": `there is no session "west": /sessions lists them`,
	} {
		if got, err := choose(all, "now", typed); err == nil || err.Error() != want {
			t.Errorf("%q: %q, error %v, want %q", typed, got, err, want)
		}
	}
}

func TestWhenACompactionIsDue(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]compaction.Status{
		"A compaction is under way.\n":                           {Running: true, Due: true},
		"A compaction is due (tokens).\n":                        {Due: true, Trigger: record.TriggerTokens},
		"Nothing is due.\n":                                      {Reason: "not due"},
		"Not due: the turn is not over.\n":                       {Reason: "the turn is not over."},
		"Nothing is due.\nThe last 2 attempts failed: no net.\n": {Reason: "not due", Failures: 2, LastError: errors.New("no net.")},
		"The last 1 attempt failed: \\x1b[2J. The next is made at 12:30:00 or later.\n": {
			Failures: 1, LastError: errors.New("\x1b[2J"), RetryAt: time.Date(2026, 1, 2, 12, 30, 0, 0, time.Local)},
	} {
		if got := dueText(s); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	for want, next := range map[string]struct {
		s        compaction.Status
		settings compaction.Settings
	}{
		"The next is due now.": {compaction.Status{Due: true}, compaction.Settings{InvocationThreshold: 5}},
		"The next is due at 25,920 tokens; the prompt has 3,158.": {
			compaction.Status{TokenThreshold: 25_920, PromptTokens: 3158}, compaction.Settings{}},
		"The next is due at 25,920 tokens or after 5 turns; the prompt has 3,158.": {
			compaction.Status{TokenThreshold: 25_920, PromptTokens: 3158}, compaction.Settings{InvocationThreshold: 5}},
		"The next is due at the hard limit of 28,000 tokens or after 1 turn; the prompt has 3,158.": {
			compaction.Status{HardLimit: 28_000, PromptTokens: 3158}, compaction.Settings{InvocationThreshold: 1}},
		"The next is due at 25,920 tokens or when it pays, in about 7 calls; the prompt has 3,158.": {
			compaction.Status{TokenThreshold: 25_920, PromptTokens: 3158, Economy: economy(true, 7)}, compaction.Settings{ByPrice: true}},
		"The next is due at 25,920 tokens or when it pays; the prompt has 3,158.": {
			compaction.Status{TokenThreshold: 25_920, PromptTokens: 3158, Economy: economy(true, -1)}, compaction.Settings{ByPrice: true}},
	} {
		if got := nextSentence(next.s, next.settings); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// economy is the arithmetic of a session with so many calls until a compaction pays.
func economy(priced bool, callsLeft int) compaction.EconomyStatus {
	s := compaction.EconomyStatus{Model: "a-model", CallsLeft: callsLeft, Spent: 0.0123, Saved: 1.5}
	s.Priced = priced
	return s
}

func TestTheArithmeticIsSaidInALine(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]compaction.Status{
		"By price, at the usual ratios, because no price of the model \"a-model\" is known. The next pays in about 7 calls.\n": {Economy: economy(false, 7)},
		"By price: compactions have cost $0.0123 and saved $1.5000. The next pays in about 7 calls.\n":                         {Economy: economy(true, 7)},
		"By price: compactions have cost $0.0123 and saved $1.5000. The next pays in about 1 call.\n":                          {Economy: economy(true, 1)},
		"By price: compactions have cost $0.0123 and saved $1.5000. When the next pays cannot be told yet.\n":                  {Economy: economy(true, -1)},
		"By price: compactions have cost $0.0123 and saved $1.5000. The next pays now.\n":                                      {Due: true, Economy: economy(true, 0)},
		"By price: compactions have cost $0.0123 and saved $1.5000.\n":                                                         {Economy: economy(true, 0)},
	} {
		if got := economyText(s); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestWhatWaitsIsSaidInWholeSentences(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]compaction.Status{
		"": {},
		"1 summary is stored with the next message.\n2 checkpoints are written when the turn has ended.\n":            {WaitingSummaries: 1, WaitingCheckpoints: 2},
		"2 summaries are stored with the next message.\n1 stored record cannot be read; it hides nothing.\n":          {WaitingSummaries: 2, UnreadableRecords: 1},
		"1 checkpoint is written when the turn has ended.\n1,200 stored records cannot be read; they hide nothing.\n": {WaitingCheckpoints: 1, UnreadableRecords: 1200},
	} {
		if got := waitingText(s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

func TestAMergeIsNoSummaryOfEvents(t *testing.T) {
	t.Parallel()
	o := compaction.Observation{Events: 2, TokensBefore: 1050, TokensAfter: 533, Trigger: record.TriggerMerge}
	if got := compactionSentence(o); got != "Merged 2 summaries: 1,050 -> 533 tokens." {
		t.Error(got)
	}
	o.Events = 1
	if got := compactionSentence(o); got != "Shortened a summary: 1,050 -> 533 tokens." {
		t.Error(got)
	}
	o.TokensBefore, o.TokensAfter = 533, 1050
	if got := compactionSentence(o); got != "Restored a summary that had been cut: 533 -> 1,050 tokens." {
		t.Error(got)
	}
	o.Events, o.TokensBefore, o.TokensAfter = 2, 1050, 533
	o.Trigger = record.TriggerTokens
	if got := compactionSentence(o); got != "Summarized 2 events: 1,050 -> 533 tokens." {
		t.Error(got)
	}
}
