package kept

import (
	"strings"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/recorded"
	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// summarized is a summary, and what it stands for.
type summarized struct {
	name, text string
	events     []*session.Event
	whole      string // the texts of the events
	source     *Source
	values     []record.Value
	alarms     map[string]bool // what is found in the summary as it is
}

const coding = "coding_agent_sessions.jsonl"

// others have no recorded summaries.
var others = []string{"tau_airline_gpt4o.jsonl", "bfcl_memory.jsonl", "memorybank_zh_en.jsonl"}

// shareTokens is how many tokens of values a share is measured with.
const shareTokens = 2000

// summaries returns the recorded summaries of a frontier model and, of sets that have none, what the extractive summarizer
// writes for a conversation. It skips the test without LONGSESSION_DATA. The tests share them, one after the other.
func summaries(t *testing.T, files ...string) (all []summarized) {
	t.Helper()
	for _, file := range files {
		if loaded[file] == nil {
			loaded[file] = summariesOf(t, file)
		}
		all = append(all, loaded[file]...)
	}
	return all
}

var loaded = map[string][]summarized{}

// prepare fills in what is known of a summary and its events.
func (s *summarized) prepare() {
	var whole strings.Builder
	EachText(s.events, func(text string) { whole.WriteString(text + "\n") })
	s.whole, s.source = whole.String(), NewSource(s.events)
	s.values = values.Merge(shareTokens, values.Of(s.events, nil, nil))
	s.alarms = map[string]bool{}
	for _, value := range s.source.Check(s.text).Values() {
		s.alarms[value] = true
	}
}

func summariesOf(t *testing.T, file string) []summarized {
	t.Helper()
	var out []summarized
	for _, c := range recorded.Read(t, file) {
		if file != coding {
			c.Compactions = []recorded.Compaction{{AtMessage: len(c.Messages)}}
		}
		for _, one := range c.Compactions {
			s := summarized{name: c.ID, text: one.Summary}
			for _, m := range c.Messages[:one.AtMessage] {
				ev := &session.Event{Author: m.Role, LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(m.Content, genai.RoleModel)}}
				if m.Role == "user" {
					ev.Content.Role = genai.RoleUser
				}
				for _, call := range m.ToolCalls {
					ev.Content.Parts = append(ev.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{Name: call.Function.Name, Args: call.Args()}})
				}
				s.events = append(s.events, ev)
			}
			if s.text == "" {
				result, err := summarizer.Extractive{}.Summarize(t.Context(), summarizer.Request{Events: s.events, MaxTokens: 800})
				if err != nil {
					t.Fatal(err)
				}
				s.text = result.Content.Parts[0].Text
			}
			s.prepare()
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		t.Fatal("no recorded summaries")
	}
	return out
}

// TestTrueSummariesRaiseNoFalseAlarm: of the values of summaries that a frontier model wrote, of digests, and of what agents
// wrote by what they had read so far, next to none are taken for invented.
func TestTrueSummariesRaiseNoFalseAlarm(t *testing.T) {
	for _, files := range [][]string{{coding}, others} {
		checked, fired := 0, 0
		for _, s := range summaries(t, files...) {
			v := s.source.Check(s.text)
			checked, fired = checked+v.Checked, fired+len(v.Findings)
			for _, f := range v.Findings {
				t.Logf("%s: %q in %q", s.name, f.Value, s.text[v.units[f.unit].begin:v.units[f.unit].end])
			}
		}
		t.Logf("%v: %d of %d values", files, fired, checked)
		row := "| three summaries of coding sessions by a frontier model"
		if files[0] != coding {
			row = "| digests of 115 other recordings, which quote"
		}
		testkit.Figures(t, benchmarks, row+" | %d | %d |", checked, fired)
		if fired*50 >= checked {
			t.Errorf("%v: %d of %d values raise an alarm, want less than 2%%", files, fired, checked)
		}
	}
	answers := []string{coding, "tau_airline_gpt4o.jsonl"}
	checked, fired := 0, 0
	for _, s := range summaries(t, answers...) {
		read := NewSource(nil)
		for _, ev := range s.events {
			if ev.Author == "assistant" {
				v := read.Check(ev.Content.Parts[0].Text)
				checked, fired = checked+v.Checked, fired+len(v.Findings)
				for _, f := range v.Findings {
					t.Logf("%s: %q in %q", s.name, f.Value, v.text[v.units[f.unit].begin:v.units[f.unit].end])
				}
			}
			eachText(ev, read.Add)
		}
	}
	t.Logf("answers of %v: %d of %d values", answers, fired, checked)
	testkit.Figures(t, benchmarks, "| answers of agents, against all that they had read before | %d | %d |", checked, fired)
	if fired*50 >= checked {
		t.Errorf("answers of agents: %d of %d values raise an alarm, want less than 2%%", fired, checked)
	}
}
