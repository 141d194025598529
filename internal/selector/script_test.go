package selector_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/selector"
)

var word = regexp.MustCompile(`^(?:([\w.]+)\|)?(\d+|-)([a-zA-Z])(?::([\w,>]*))?(?:@(\w+))?(?:\*(\d+))?$`)

// script makes a history of one event for each word, with the IDs e1, e2 and so on:
//
//	[branch|]invocation kind [:call IDs] [@author] [*tokens]
//
// The invocation "-" means none. The author is "bot" or the user, unless given. The kinds are:
//
//	q  the user's words               a  an agent's words
//	v  transcribed speech of the user x  words with a remote agent's metadata
//	c  a call                         l  a call of a long-running tool
//	r  an agent's response            u  the user's response
//	s  an agent's change of state     S  the user's change of state
//	f:x>y  a request x to confirm call y
//	n  a nil event
func script(words ...string) []*session.Event {
	var h compactiontest.History
	for _, w := range strings.Fields(strings.Join(words, " ")) {
		m := word.FindStringSubmatch(w)
		if m == nil {
			panic("script: " + w)
		}
		if m[3] == "n" {
			h.Events = append(h.Events, nil)
			continue
		}
		invocation, author := strings.TrimPrefix(m[2], "-"), m[5]
		if author == "" {
			author = "bot"
		}
		var ids []string
		if strings.Contains(w, ":") {
			ids = strings.Split(m[4], ",")
		}
		h.Branch(m[1])
		switch m[3] {
		case "q":
			h.User(invocation, "question")
		case "a":
			h.Agent(invocation, author, "answer")
		case "c":
			h.Call(invocation, author, "tool", ids...)
		case "l":
			h.Call(invocation, author, "tool", ids...).Long(ids...)
		case "r":
			h.Response(invocation, author, "tool", "ok", ids...)
		case "u":
			h.Response(invocation, "user", "tool", "ok", ids...)
		case "f":
			request, original, _ := strings.Cut(m[4], ">")
			h.Call(invocation, author, toolconfirmation.FunctionCallName, request)
			h.Last().Content.Parts[0].FunctionCall.Args = map[string]any{"originalFunctionCall": map[string]any{"id": original, "name": "tool"}}
		case "v":
			h.Add(invocation, "user", nil)
			h.Last().InputTranscription = &genai.Transcription{Text: "question"}
		case "x":
			h.Agent(invocation, author, "answer")
			h.Last().CustomMetadata = map[string]any{"a2a:context_id": "remote"}
		case "s":
			h.Add(invocation, author, nil)
		case "S":
			h.Add(invocation, "user", nil)
		default:
			panic("script: " + w)
		}
		if m[6] != "" {
			size, _ := strconv.Atoi(m[6])
			h.Last().CustomMetadata = map[string]any{sizeKey: size}
		}
	}
	return h.Events
}

const sizeKey = "size"

// sizeOf is how many tokens an event costs a summarizer: 6 unless the script says otherwise.
// promptSizeOf is how many it takes up in a prompt.
func sizeOf(ev *session.Event) int {
	if size, ok := ev.CustomMetadata[sizeKey].(int); ok {
		return size
	}
	return 6
}

// turns is the script of n turns, each a question and an answer, in invocations first, first+1 and
// so on.
func turns(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, "%dq %da ", i, i)
	}
	return b.String()
}

// defaults are the library's own thresholds, with no events retained besides the pins.
func defaults() selector.Params {
	return selector.Params{Threshold: 5, Overlap: 2, Size: promptSizeOf}
}

func running(ids ...string) func(string) bool {
	return func(id string) bool { return slices.Contains(ids, id) }
}

// shown renders a window on one line, runs of events as "e1-e6", or the reason why there is none.
func shown(sel selector.Selection) string {
	if sel.Empty() {
		return "(" + string(sel.Reason) + ")"
	}
	return listed(sel.Events)
}

func listed(events []*session.Event) string {
	var out []string
	number := func(i int) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(events[i].ID, "e"))
		return n
	}
	for i := 0; i < len(events); i++ {
		first := i
		for i+1 < len(events) && number(i+1) == number(i)+1 {
			i++
		}
		if i-first > 1 {
			out = append(out, events[first].ID+"-"+events[i].ID)
		} else {
			out = append(out, compactiontest.IDs(events[first:i+1])...)
		}
	}
	return strings.Join(out, " ")
}

func check(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func splitList(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

func indexOf(events []*session.Event, id string) int {
	return slices.IndexFunc(events, func(ev *session.Event) bool { return ev != nil && ev.ID == id })
}

func promptSizeOf(ev *session.Event) int { return sizeOf(ev) + promptsize.EventOverhead }
