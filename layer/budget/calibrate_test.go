package budget

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/testkit/recorded"
)

// agentSession plays requests of one agent through a meter.
type agentSession struct {
	t   testing.TB
	m   *Meter
	who caller
	req *model.LLMRequest
}

func newAgentSession(t testing.TB, cfg Config, journals ...*journal) *agentSession {
	return &agentSession{
		t: t, m: newMeter(t, cfg, journals...), who: caller{ref: ref, agent: "assistant", invocation: "inv", model: "test-model"},
		req: &model.LLMRequest{Config: &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser)}},
	}
}

// say adds a message of about that many tokens.
func (s *agentSession) say(role genai.Role, size int) {
	s.req.Contents = append(s.req.Contents, genai.NewContentFromText(fmt.Sprintf("%d: ", len(s.req.Contents))+strings.Repeat("word ", size), role))
}

// call sends the request and reports a count; it returns what was expected.
func (s *agentSession) call(count int, change ...func(*genai.GenerateContentResponseUsageMetadata)) measured {
	usage := &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(count), CandidatesTokenCount: 10}
	for _, c := range change {
		c(usage)
	}
	got := s.m.measure(s.who, s.req)
	s.m.sent(s.t.Context(), s.who, got, 0)
	var a answer
	a.add(&model.LLMResponse{Content: genai.NewContentFromText("Yes.", genai.RoleModel), UsageMetadata: usage})
	s.m.reported(s.t.Context(), s.who, got, a)
	return got
}

// off is by how much an expectation misses a count, as a share of the count.
func off(expected, count int) float64 { return math.Abs(float64(expected-count)) / float64(count) }

func TestExpectationsAreWithinATenthAfterThreeCalls(t *testing.T) {
	t.Parallel()
	for _, tokenizer := range []struct{ factor, constant float64 }{
		{1, 0}, {0.7, 0}, {0.8, 1_000}, {1, 3_000}, {1.3, 500}, {1.3, 15_000}, {1.5, 0}, {1.9, 200},
	} {
		for _, sizes := range [][]int{
			{500, 500, 500, 500, 500, 500, 500, 500},            // even turns
			{4_000, 20, 20, 3_000, 10, 8_000, 15, 15, 2_000},    // tool results between short answers
			{20, 20, 20, 20, 30, 30, 40, 40, 50},                // hardly any growth
			{10_000, 10_000, 10_000, -1, 500, 500, 5_000, 500},  // a compaction
			{20_000, 50, 50, 50, 50, 50, -1, 50, 50, 50, 5_000}, // a compaction of a first long message
		} {
			t.Run(fmt.Sprintf("%v+%v %v", tokenizer.factor, tokenizer.constant, sizes[:3]), func(t *testing.T) {
				t.Parallel()
				s := newAgentSession(t, Config{ContextWindow: 1_000_000})
				for i, size := range sizes {
					if size < 0 { // a summary of 500 tokens stands for all but the newest message
						s.req.Contents = slices.Clone(s.req.Contents[len(s.req.Contents)-1:])
						size = 500
					}
					s.say(genai.RoleUser, size)
					estimate := s.m.measure(s.who, s.req).estimate()
					count := int(tokenizer.factor*float64(estimate) + tokenizer.constant)
					got := s.call(count)
					// No tokenizer counts 1.9 times the estimate. Until counts show that one does, half of it is
					// taken for a fixed part, which a compaction would leave.
					high := tokenizer.factor > 1.5 && got.UsedTokens() > count
					if sum := got.UsedTokens(); i >= 3 && off(sum, count) > 0.1 && !high {
						t.Errorf("call %d: %d expected, %d counted", i+1, sum, count)
					}
					if i >= 3 && got.atMost < count {
						t.Errorf("call %d: at most %d expected, %d counted", i+1, got.atMost, count)
					}
				}
			})
		}
	}
}

func TestCountsThatCannotBeTrueAreNotCalibratedBy(t *testing.T) {
	t.Parallel()
	total := 0
	for _, r := range []struct {
		name  string
		count func(call, estimate int) int // of the provider; the first three counts are the estimate
		kind  Kind                         // reported once, "" for never
	}{
		{"nothing is reported", func(int, int) int { return 0 }, ""},
		{"negative", func(int, int) int { return -5 }, ""},
		{"the server cuts prompts", func(_, e int) int { return min(e, 900) }, CutByServer},
		{"the first chunk of each other stream only", func(i, e int) int { return e * (i % 2) }, ""},
		{"a running total", func(_, e int) int { total += e; return total }, Misreported},
		{"nonsense", func(int, int) int { return math.MaxInt32 }, Misreported},
		{"the window", func(int, int) int { return 200_001 }, Misreported},
		{"ever more nonsense", func(i, _ int) int { return 1_000 << i }, Misreported},
	} {
		log := &journal{}
		s := newAgentSession(t, Config{ContextWindow: 200_000, Observer: log.Observe}, log)
		total = 0
		for i := range 30 {
			s.say(genai.RoleUser, 1_000)
			got := s.m.measure(s.who, s.req)
			count := got.estimate()
			if i >= 3 {
				count = r.count(i, count)
			} else {
				total += count
			}
			if off(got.UsedTokens(), got.estimate()) > 0.1 {
				t.Errorf("%s: call %d is expected to count %d, the estimate is %d", r.name, i+1, got.UsedTokens(), got.estimate())
				break
			}
			s.call(count)
		}
		for _, kind := range []Kind{CutByServer, Misreported} {
			want := 0
			if kind == r.kind {
				want = 1
			}
			if n := len(log.of(kind)); n != want {
				t.Errorf("%s: %q is reported %d times, want %d: %+v", r.name, kind, n, want, log.of(kind))
			}
		}
	}
}

// A provider may count a running total from the very first call.
func TestARunningTotalFromTheFirstCallOnIsRecognized(t *testing.T) {
	t.Parallel()
	s := newAgentSession(t, Config{ContextWindow: 200_000})
	total := 0
	for i := range 20 {
		s.say(genai.RoleUser, 500)
		got := s.m.measure(s.who, s.req)
		if i >= 8 && off(got.UsedTokens(), got.estimate()) > 0.25 {
			t.Errorf("call %d is expected to count %d, the estimate is %d", i+1, got.UsedTokens(), got.estimate())
		}
		total += got.estimate()
		s.call(total)
	}
}

func TestWhatChangesForGoodIsFollowed(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name  string
		count func(estimate int) int
		model string
	}{
		{"the server adds a long prompt of its own", func(e int) int { return e + 20_000 }, "test-model"},
		{"another tokenizer under the same name", func(e int) int { return e * 3 / 2 }, "test-model"},
		{"another model", func(e int) int { return e * 7 / 10 }, "other-model"},
	} {
		s := newAgentSession(t, Config{ContextWindow: 200_000})
		for i := range 12 {
			s.say(genai.RoleUser, 1_000)
			count := func(e int) int { return e }
			if i >= 5 {
				count, s.who.model = r.count, r.model
			}
			got := s.call(count(s.m.measure(s.who, s.req).estimate()))
			if want := count(got.estimate()); i >= 8 && off(got.UsedTokens(), want) > 0.1 {
				t.Errorf("%s: call %d is expected to count %d, it is %d", r.name, i+1, got.UsedTokens(), want)
			}
		}
	}
}

func TestCachedTokensAreInThePromptAndThoughtsAreNot(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name            string
		prompt, cached  int
		thoughts, total int
		want            int
	}{
		{"cached tokens are part of the prompt", 10_000, 9_000, 0, 0, 10_000},
		{"they are reported apart", 3, 9_997, 0, 0, 10_000},
		{"they are a sum over all calls", 10_000, 500_000, 0, 0, 10_000},
		{"thoughts", 10_000, 0, 5_000, 15_000, 10_000},
		{"a negative number of cached tokens", 10_000, -1, 0, 0, 10_000},
		{"no prompt", 0, 9_000, 0, 0, 9_000},
		{"a negative prompt", -1, 9_000, 0, 0, 0},
	} {
		usage := &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: int32(r.prompt), CachedContentTokenCount: int32(r.cached), ThoughtsTokenCount: int32(r.thoughts), TotalTokenCount: int32(r.total),
		}
		if got := countOf(usage, 9_500); got != r.want {
			t.Errorf("%s: %d, want %d", r.name, got, r.want)
		}
	}
	if countOf(nil, 100) != 0 {
		t.Error("something is counted without a report")
	}
}

func TestAServerThatCutsPromptsIsReportedAgainAfterAFullCount(t *testing.T) {
	t.Parallel()
	log := &journal{}
	s := newAgentSession(t, Config{Observer: log.Observe}, log)
	for i := range 12 {
		s.say(genai.RoleUser, 2_000)
		count := s.m.measure(s.who, s.req).estimate()
		if i != 6 {
			count /= 2
		}
		s.call(count)
	}
	cuts := log.of(CutByServer)
	if len(cuts) != 2 {
		t.Fatalf("reported %d times, want before and after the full count: %+v", len(cuts), cuts)
	}
	if o := cuts[0]; o.Counted != o.Estimated/2 || o.Session != ref || o.Agent != "assistant" || o.Reason == "" {
		t.Errorf("the report lacks something: %+v", o)
	}
}

// playReal plays the calls of real sessions that their provider has counted, and passes on what was expected of each. The
// recorded counts hold the recorded application's instructions and tools, which the recording lacks.
func playReal(t *testing.T, each func(call int, expected measured, count int)) {
	t.Helper()
	calls := 0
	for _, c := range recorded.Read(t, "coding_agent_sessions.jsonl") {
		s := newAgentSession(t, Config{ContextWindow: 1_000_000})
		counted, before := 0, 0
		for i, message := range c.Messages {
			if len(c.Compactions) > 0 && i >= c.Compactions[0].AtMessage {
				break // later counts are of prompts that the recording does not have
			}
			// A count that is repeated belongs to an answer that was recorded in several pieces.
			if count := message.Usage.PromptTokens; count > 0 && count != before {
				before = count
				got := s.call(count)
				counted, calls = counted+1, calls+1
				each(counted, got, count)
			}
			s.req.Contents = append(s.req.Contents, message.LLM())
		}
	}
	if calls < 300 {
		t.Fatalf("only %d counts found", calls)
	}
}

func TestRealSessionsAreExpectedWithinATenthAfterThreeTurns(t *testing.T) {
	t.Parallel()
	missed := 0
	var errs []float64
	playReal(t, func(call int, expected measured, count int) {
		if call <= 3 {
			return
		}
		e := off(expected.UsedTokens(), count)
		errs = append(errs, e)
		if e > 0.1 {
			missed++
		}
	})
	slices.Sort(errs)
	calls := len(errs)
	t.Logf("%d calls: %d off by more than a tenth; median %.2f%%, 99th percentile %.2f%%, worst %.1f%%", calls, missed,
		100*errs[calls/2], 100*errs[calls*99/100], 100*errs[calls-1])
	if missed*100 > calls {
		t.Errorf("%d of %d calls are off by more than a tenth", missed, calls)
	}
}

func TestOneInAHundredRealCallsExceedsWhatItShouldNot(t *testing.T) {
	t.Parallel()
	calls, exceeded := 0, 0
	var room []float64
	playReal(t, func(call int, expected measured, count int) {
		if call == 1 {
			return // nobody recorded what its fixed part is
		}
		calls++
		room = append(room, float64(expected.atMost-expected.UsedTokens())/float64(count))
		if count > expected.atMost {
			exceeded++
		}
	})
	slices.Sort(room)
	t.Logf("%d of %d calls; the margin is %.1f%% of the prompt in the median", exceeded, calls, 100*room[len(room)/2])
	if exceeded*100 > calls {
		t.Errorf("%d of %d calls have more tokens than they should at most", exceeded, calls)
	}
	if median := room[len(room)/2]; median > 0.02 {
		t.Errorf("the margin is %.1f%% of the prompt in the median, want at most 2%%", 100*median)
	}
}

func TestTheSecondRealCallKnowsTheFixedPart(t *testing.T) {
	t.Parallel()
	var errs []float64
	playReal(t, func(call int, expected measured, count int) {
		if call == 2 || call == 3 {
			errs = append(errs, off(expected.UsedTokens(), count))
		}
	})
	slices.Sort(errs)
	t.Logf("off by %.1f%% in the median, %.1f%% at worst", 100*errs[len(errs)/2], 100*errs[len(errs)-1])
	if errs[len(errs)-1] > 0.15 {
		t.Errorf("a second or third call is off by %.0f%%, want at most 15%%", 100*errs[len(errs)-1])
	}
}

// A provider that adds 20,000 tokens of its own to prompts of 100 counts them at 200 times the estimate. No tokenizer
// does, so the next 10,000 tokens do not count double.
func TestInstructionsThatNoRequestHasAreNoRatio(t *testing.T) {
	t.Parallel()
	for _, factor := range []float64{1, 1.25, 1.5} {
		s := newAgentSession(t, Config{ContextWindow: 200_000})
		for i, size := range []int{100, 10_000, 10_000} {
			s.say(genai.RoleUser, size)
			count := 20_000 + int(factor*float64(s.m.measure(s.who, s.req).estimate()))
			got := s.call(count)
			if i > 0 && (off(got.UsedTokens(), count) > 0.1 || got.atMost < count) {
				t.Errorf("factor %v, call %d: %d expected, at most %d, %d counted", factor, i+1, got.UsedTokens(), got.atMost, count)
			}
		}
	}
}

func TestTheLineNearTheLatestCount(t *testing.T) {
	t.Parallel()
	var f promptsize.Fit
	for _, n := range []int{1_000, 2_000, 3_000} {
		f.Add(n, n+2_000)
	}
	line := f.LineNear(3_000, 5_000)
	if got := line.Of(4_000); got < 6_000 || got > 6_100 || line.Of(3_000) != 5_000 {
		t.Errorf("%+v: 4000 counts %d", line, got)
	}
}
