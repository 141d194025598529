package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/replay"
)

// orders is a recording of a chat in which a person orders parts, one in each turn.
func orders(turns int) string {
	var messages []map[string]string
	for i := range turns {
		messages = append(messages,
			map[string]string{"role": "user", "content": fmt.Sprintf("Order %d pieces of part P-10%02d for customer C-20%02d, never by air.", 30+i, i, i)},
			map[string]string{"role": "assistant", "content": fmt.Sprintf("Part P-10%02d is ordered for customer C-20%02d. %s", i, i, strings.Repeat("The shop confirms the order and will send it by road. ", 30))})
	}
	line, err := json.Marshal(map[string]any{"id": "orders", "messages": messages})
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

// The texts of recorded summaries. Nobody has said what is in the second.
const (
	trueSummary     = "Language: English. The user orders one part after the other, never by air, each for another customer. The assistant confirms each order: it is sent by road."
	inventedSummary = trueSummary + " Order Z-9999 was refunded."
)

// recorded writes an answer of a model as its provider does. It used 900 tokens and wrote 60.
func recorded(w http.ResponseWriter, r *http.Request, text, reason string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, recording(r, text, reason))
}

func recording(r *http.Request, text, reason string) string {
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		return fmt.Sprintf(`{"id":"chatcmpl-7","object":"chat.completion","created":1764000000,"model":"recorded","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":%q}],`+
			`"usage":{"prompt_tokens":900,"completion_tokens":60,"total_tokens":960}}`, text, strings.ToLower(strings.TrimPrefix(reason, "MAX_TOKENS/")))
	}
	return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":%q}]},"finishReason":%q,"index":0}],`+
		`"usageMetadata":{"promptTokenCount":900,"candidatesTokenCount":60,"totalTokenCount":960},"modelVersion":"recorded"}`, text, strings.TrimSuffix(reason, "/length"))
}

// replayedBy replays orders with summaries by a model at a local server, and returns the total of each policy. protocol is
// "gemini" or "openai".
func replayedBy(t *testing.T, protocol string, turns int, answer http.HandlerFunc, flags ...string) (end ended, totals []replay.Total) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("X-Goog-Api-Key") + r.Header.Get("Authorization"); !strings.HasSuffix(key, "not-to-be-shown") {
			t.Errorf("the key that was sent is %q", key)
		}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	home(t)
	t.Setenv("GEMINI_API_KEY", "AIza-not-to-be-shown")
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "")
	t.Setenv("GOOGLE_GEMINI_BASE_URL", s.URL)
	args := []string{"-", "--summarizer", "model", "--threshold", "3", "--overlap", "1", "--context-window", "32000", "--json"}
	switch named := strings.Contains(strings.Join(flags, " "), "summary-model"); {
	case protocol == "gemini":
		args = append(args, "--summary-model", "gemini-3.1-flash-lite")
	case !named:
		args = append(args, "--summary-model", "recorded", "--summary-price", "input=1,output=2")
		fallthrough
	default:
		args = append(args, "--base-url", s.URL+"/v1")
	}
	end = replayed(t.Context(), replay.Compare, strings.NewReader(orders(turns)), append(args, flags...)...)
	if all := end.stdout + end.stderr; strings.Contains(all, "not-to-be-shown") {
		t.Errorf("the key is shown: %s", all)
	}
	for line := range strings.Lines(end.stdout) {
		if strings.HasPrefix(line, `{"type":"total"`) {
			var total replay.Total
			if err := json.Unmarshal([]byte(line), &total); err != nil {
				t.Fatal(err)
			}
			totals = append(totals, total)
		}
	}
	return end, totals
}

// prices are those of one call of recorded, by protocol: the model of Gemini has its own, and the other is given one.
var prices = map[string]float64{"gemini": 900*.25e-6 + 60*1.50e-6, "openai": 900*1e-6 + 60*2e-6}

func TestAModelOfEachProviderWritesSummaries(t *testing.T) {
	for protocol, price := range prices {
		var asked atomic.Int64
		end, totals := replayedBy(t, protocol, 10, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			time.Sleep(20 * time.Millisecond)
			recorded(w, r, trueSummary, "STOP")
		})
		if end.code != exit.CodeOK || len(totals) != 1 {
			t.Fatalf("%s: exit code %d\n%s%s", protocol, end.code, end.stdout, end.stderr)
		}
		s, n := totals[0].Summarizer, int(asked.Load())
		if n < 2 || s.Calls != n || s.Written != totals[0].Compactions || s.WithoutModel != 0 || s.Failed != 0 || s.Estimated != 0 || s.Invented != 0 {
			t.Errorf("%s: %d calls for %d compactions are reported as %+v", protocol, n, totals[0].Compactions, s)
		}
		if s.PromptTokens != 900*n || s.OutputTokens != 60*n || math.Abs(s.Dollars-price*float64(n)) > 1e-9 || s.Seconds < .02*float64(n) {
			t.Errorf("%s: %d calls of $%v cost %+v", protocol, n, price, s)
		}
		if strings.Contains(end.stdout, "recommendation") {
			t.Errorf("%s: a run whose summaries a model writes recommends what it cannot compare: %s", protocol, end.stdout)
		}
		if s.Measured != s.Written || s.Kept <= .2 || s.Kept > 1 || totals[0].With.SaidWhole == 0 {
			t.Errorf("%s: what the summaries keep: %+v, %+v", protocol, s, totals[0].With)
		}
	}
}

// TestAModelThatInventsIsAskedAgain, and what it says again is cut out and counted.
func TestAModelThatInventsIsAskedAgain(t *testing.T) {
	for protocol := range prices {
		var asked atomic.Int64
		_, totals := replayedBy(t, protocol, 10, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			recorded(w, r, inventedSummary, "STOP")
		})
		if s := totals[0].Summarizer; s.Written < 2 || s.Calls != int(asked.Load()) || s.Calls <= s.Written || s.Invented != s.Written {
			t.Errorf("%s: %d calls are reported as %+v", protocol, asked.Load(), s)
		}
	}
}

// TestAServerThatFailsIsReported: the report says how many summaries the model has written, and why the first is missing.
func TestAServerThatFailsIsReported(t *testing.T) {
	refuse := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = fmt.Fprintf(w, `{"error":{"code":%d,"message":"Not now.","status":"UNAVAILABLE"}}`, code)
		}
	}
	cut := func(w http.ResponseWriter, r *http.Request) {
		whole := recording(r, trueSummary, "STOP")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
		_, _ = io.WriteString(w, whole[:len(whole)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   map[string]string // by protocol
		paid   bool
	}{
		"refuses":  {refuse(429), map[string]string{"gemini": "status 429: Not now.", "openai": "status 429: Not now."}, false},
		"breaks":   {refuse(500), map[string]string{"gemini": "status 500: Not now.", "openai": "status 500: Not now."}, false},
		"too long": {func(w http.ResponseWriter, r *http.Request) { recorded(w, r, trueSummary, "MAX_TOKENS/length") }, map[string]string{"gemini": "the answer ended with MAX_TOKENS instead of STOP", "openai": "the answer ended with MAX_TOKENS instead of STOP"}, true},
		"is cut":   {cut, map[string]string{"gemini": "unexpected EOF", "openai": "unexpected EOF"}, false},
		"hangs":    {func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }, map[string]string{"gemini": "has sent nothing for too long", "openai": "has sent nothing for too long"}, false},
		"says a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<p>Log in")
		}, map[string]string{"gemini": "a web page instead of JSON", "openai": "a web page instead of JSON"}, false},
	} {
		for protocol, says := range c.says {
			t.Run(name+" "+protocol, func(t *testing.T) {
				var flags []string
				if name == "hangs" {
					flags = []string{"--server-timeout", "1"}
				}
				end, totals := replayedBy(t, protocol, 5, c.answer, flags...)
				if end.code != exit.CodeFailed || !strings.Contains(end.stderr, "has written no summary") || len(totals) != 1 {
					t.Fatalf("exit code %d\n%s%s", end.code, end.stdout, end.stderr)
				}
				s := totals[0].Summarizer
				if s.Written != 0 || s.Failed < 1 || s.WithoutModel != totals[0].Compactions || (s.Calls > 0) != c.paid || (s.Dollars > 0) != c.paid {
					t.Errorf("%+v for %d compactions", s, totals[0].Compactions)
				}
				if !strings.Contains(end.stdout, "summaries that could not be written") || !strings.Contains(end.stdout, says) {
					t.Errorf("no note says %q:\n%s", says, end.stdout)
				}
			})
		}
	}
}

// TestAServerThatRecoversWritesTheRest.
func TestAServerThatRecoversWritesTheRest(t *testing.T) {
	for protocol := range prices {
		var asked atomic.Int64
		end, totals := replayedBy(t, protocol, 12, func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) == 1 {
				http.Error(w, `{"error":{"message":"Not now."}}`, http.StatusServiceUnavailable)
				return
			}
			recorded(w, r, trueSummary, "STOP")
		})
		if s := totals[0].Summarizer; end.code != exit.CodeOK || s.Failed != 1 || s.Written < 2 || s.Written != totals[0].Compactions || s.Calls != int(asked.Load())-1 {
			t.Errorf("%s: exit code %d, %d calls are reported as %+v", protocol, end.code, asked.Load(), s)
		}
	}
}

// TestWhereAModelFailsAtTheLimitTheReportSaysWhoWrote: prompts stay within the window all the same.
func TestWhereAModelFailsAtTheLimitTheReportSaysWhoWrote(t *testing.T) {
	end, totals := replayedBy(t, "openai", 30, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"Not now."}}`, http.StatusTooManyRequests)
	}, "--threshold", "0", "--context-window", "5000")
	s := totals[0].Summarizer
	if end.code != exit.CodeFailed || s.Written != 0 || s.Failed < 1 || s.WithoutModel < 2 || s.WithoutModel != totals[0].Compactions || totals[0].Over != 0 {
		t.Errorf("exit code %d, %+v for %d compactions, %d prompts over the limit\n%s", end.code, s, totals[0].Compactions, totals[0].Over, end.stderr)
	}
}

// TestModelsAndPacksStandSideBySide: each with its own numbers, in JSON, in the table and on the page.
func TestModelsAndPacksStandSideBySide(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		var got request
		_ = json.NewDecoder(r.Body).Decode(&got)
		if got.Model == "gpt-4o" {
			recorded(w, r, inventedSummary, "STOP")
			return
		}
		recorded(w, r, trueSummary, "STOP")
	}
	grid := []string{"--grid", "summarizer=extractive,model summary-model=gpt-4o,gpt-4o-mini prompt-pack=default,handover"}
	end, totals := replayedBy(t, "openai", 10, answer, grid...)
	if end.code != exit.CodeOK || len(totals) != 5 {
		t.Fatalf("exit code %d, %d policies\n%s%s", end.code, len(totals), end.stdout, end.stderr)
	}
	for _, total := range totals {
		s := total.Summarizer
		price := 900*.15e-6 + 60*.60e-6
		if strings.Contains(total.Policy, "gpt-4o ") {
			price = 900*2.50e-6 + 60*10e-6
		}
		switch byModel := strings.Contains(total.Policy, "summarizer=model"); {
		case !byModel:
			if s.Written != 0 || s.Estimated != s.Calls || s.Seconds != 0 {
				t.Errorf("%s: %+v", total.Policy, s)
			}
		case s.Written < 2 || math.Abs(s.Dollars-price*float64(s.Calls)) > 1e-9 || (s.Invented > 0) != strings.Contains(total.Policy, "gpt-4o "):
			t.Errorf("%s: %+v, want $%v for each call", total.Policy, s, price)
		}
	}

	page := filepath.Join(t.TempDir(), "a.html")
	end, _ = replayedBy(t, "openai", 10, answer, append(grid, "--json=false", "--html", page)...)
	flat := strings.Join(strings.Fields(end.stdout), " ")
	if !strings.Contains(flat, ", by a model; except for the keys of the grid") {
		t.Errorf("the report does not say that a model writes: %s", flat)
	}
	written := fmt.Sprintf("%d/%[1]d 0", totals[4].Summarizer.Written)
	for _, want := range []string{"writer gpt-4o at 127.0.0.1:", "the run ends when that has cost $1", "model / gpt-4o-mini / handover " + written, "values in- words US $ for"} {
		if !strings.Contains(flat, want) {
			t.Errorf("the report lacks %q:\n%s", want, end.stdout)
		}
	}
	html, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(html, []byte(" by the model, ")) || !bytes.Contains(html, []byte("of the values kept")) {
		t.Errorf("the page does not say what the models keep: %v", err)
	}
}

// TestARunEndsBeforeItsSummariesCostTooMuch: what was played by then is reported.
func TestARunEndsBeforeItsSummariesCostTooMuch(t *testing.T) {
	for protocol, price := range prices {
		var asked atomic.Int64
		end, totals := replayedBy(t, protocol, 30, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			recorded(w, r, trueSummary, "STOP")
		}, "--max-summary-cost-usd", fmt.Sprintf("%.6f", 2*price))
		if end.code != exit.CodeFailed || !strings.Contains(end.stderr, "the next call may take them over --max-summary-cost-usd") || asked.Load() < 1 || asked.Load() > 2 {
			t.Errorf("%s: exit code %d after %d calls: %s", protocol, end.code, asked.Load(), end.stderr)
		}
		if len(totals) != 1 || totals[0].Conversations != 0 || !strings.Contains(end.stdout, `"complete":false`) {
			t.Errorf("%s: %s", protocol, end.stdout)
		}
	}
}

// TestACallThatIsGivenUpCountsAgainstTheLimit: its server may have worked on the answer.
func TestACallThatIsGivenUpCountsAgainstTheLimit(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"silent": func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() },
		"cut": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, recording(r, trueSummary, "STOP")[:100])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		for protocol, limit := range map[string]string{"gemini": ".0005", "openai": ".002"} {
			var asked atomic.Int64
			end, _ := replayedBy(t, protocol, 30, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); answer(w, r) },
				"--server-timeout", "1", "--max-summary-cost-usd", limit)
			if end.code != exit.CodeFailed || !strings.Contains(end.stderr, "--max-summary-cost-usd") || asked.Load() != 1 {
				t.Errorf("%s, %s: exit code %d after %d calls: %s", name, protocol, end.code, asked.Load(), end.stderr)
			}
		}
	}
}

// TestMistakesAboutModelsAreRefusedBeforeAnyWork.
func TestMistakesAboutModelsAreRefusedBeforeAnyWork(t *testing.T) {
	home(t)
	for _, unset := range []string{"GOOGLE_GENAI_USE_VERTEXAI", "OPENAI_API_KEY", "LONGSESSION_API_KEY"} {
		t.Setenv(unset, "")
	}
	for want, flags := range map[string]string{
		"--summarizer model without --summary-model: name the model":                              "--summarizer model --base-url http://localhost:1/v1",
		"--summary-model is gemini-3.1-flash-lite, and no key is set: set GEMINI_API_KEY":         "--summarizer model --summary-model gemini-3.1-flash-lite",
		"--summary-model is gpt-4o, and no key is set: set OPENAI_API_KEY":                        "--summarizer model --summary-model gpt-4o",
		"--summary-model is mine, and no server is known for it: name the server with --base-url": "--summarizer model --summary-model mine",
		"--summary-model is mine, whose price is not known":                                       "--summarizer model --summary-model mine --base-url https://example.com/v1",
		"--base-url without --summarizer model: no model is called":                               "--base-url http://localhost:1/v1",
		"--server-timeout without --summarizer model":                                             "--server-timeout 7",
		"--max-summary-cost-usd without --summarizer model":                                       "--max-summary-cost-usd 7",
		"--prompt-pack is handover with --summarizer extractive: no model reads the prompt":       "--prompt-pack handover",
		`--summary-model "m\x1b[31m" has a character that cannot be seen`:                         "--summarizer model --summary-model m\x1b[31m --base-url http://localhost:1/v1",
		`--summary-model "m\a" has a character that cannot be seen`:                               "--summarizer model --grid summary-model=n,m\a --base-url http://localhost:1/v1",
		`--summary-price: input=0.00001 is less than 0.0001`:                                      "--summarizer model --summary-model m --summary-price input=0.00001,output=2",
		"--summary-model is empty: name a model":                                                  "--summarizer model --summary-model=",
		"--summary-price with a and b: they do not all cost the same":                             "--summarizer model --summary-price input=1,output=2 --grid summary-model=a,b",
		"--grid: summary-model, and no model writes summaries; add --summarizer model":            "--grid summary-model=a,b",
		`--base-url is "localhost": use an address such as http://localhost:11434/v1`:             "--summarizer model --summary-model mine --base-url localhost",
		"--summary-price without --summary-model: name the model":                                 "--summary-price input=1,output=2",
		"--per-month with --summarizer model: only a recommendation":                              "--summarizer model --summary-model scripted:demo --per-month 7",
		"--hindsight with --summarizer model":                                                     "--summarizer model --hindsight",
	} {
		end := replayed(t.Context(), replay.Compare, strings.NewReader(orders(9)), append([]string{"-"}, strings.Fields(flags)...)...)
		if end.code != exit.CodeUsage || end.stdout != "" || !strings.Contains(end.stderr, want) {
			t.Errorf("%s: exit code %d, want %q:\n%s%s", flags, end.code, want, end.stdout, end.stderr)
		}
	}
}

// TestAModelOnThisMachineNeedsNoPrice, and its summaries cost nothing.
func TestAModelOnThisMachineNeedsNoPrice(t *testing.T) {
	end, totals := replayedBy(t, "openai", 10, func(w http.ResponseWriter, r *http.Request) { recorded(w, r, trueSummary, "STOP") }, "--summary-model", "local-7b")
	if s := totals[0].Summarizer; end.code != exit.CodeOK || s.Written < 2 || s.Dollars != 0 {
		t.Errorf("exit code %d, %+v\n%s", end.code, s, end.stderr)
	}
}
