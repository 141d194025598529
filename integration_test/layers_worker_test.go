package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// worker is the model of one agent. In each run it calls dump in some rounds, reads the results that it
// sees shortened back, and then answers. It checks every request.
type worker struct {
	a    *toolApp
	name string
	// rounds is how often it calls tools in a run, and wide how many it calls at once.
	rounds, wide int
	// reads makes it read every shortened result back at once.
	reads bool
	// unknown makes it call a tool that does not exist once in a run.
	unknown bool
	// foreign is true if it works in sessions that the stack does not know, as an agent that is a tool.
	foreign bool
	// forgiving is true if results need not be readable.
	forgiving bool
	// seek makes it use tools of the catalog in every second round, if not nil.
	seek *seeker
	// silent keeps it from reporting usage, and each gets every request, if not nil.
	silent bool
	each   func(*model.LLMRequest)
	// begin answers the message that starts a run, if not nil.
	begin func() *model.LLMResponse

	mu    sync.Mutex
	calls int
	round int
	next  int      // number of the next file
	done  int      // results that it has read back
	must  []string // references that it reads before anything else
	at    int      // offset of the next part of must[0]
	part  string   // what it has read of must[0]
}

func (w *worker) Name() string { return "worker" }

func (w *worker) GenerateContent(_ context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		w.mu.Lock()
		size := w.check(req)
		if w.each != nil {
			w.each(req)
		}
		resp := w.answer(req)
		w.sign(resp)
		w.mu.Unlock()
		if !w.silent {
			resp.UsageMetadata = usage(size, resp)
		}
		if text := resp.Content.Parts[0].Text; stream && text != "" {
			for _, word := range strings.SplitAfter(text, " ") {
				if !yield(&model.LLMResponse{Content: genai.NewContentFromText(word, genai.RoleModel), Partial: true}, nil) {
					return
				}
			}
		}
		yield(resp, nil)
	}
}

func usage(size int, resp *model.LLMResponse) *genai.GenerateContentResponseUsageMetadata {
	return &genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount: int32(size), CandidatesTokenCount: int32(jsonSize(resp.Content) / 4),
	}
}

// answer decides by the newest content alone, so the worker needs no script.
func (w *worker) answer(req *model.LLMRequest) *model.LLMResponse {
	last := req.Contents[len(req.Contents)-1]
	responses := requests.Responses(last)
	if len(responses) == 0 {
		w.round = 0
	}
	for _, response := range responses {
		w.receive(response)
	}
	if len(w.must) > 0 {
		return w.readNext()
	}
	if w.begin != nil && len(responses) == 0 {
		return w.begin()
	}
	if w.seek != nil && w.seek.want != nil {
		return w.seek.call(w, req, responses[0])
	}
	if w.round < w.rounds {
		w.round++
		if w.seek != nil && w.round%2 == 1 {
			return w.seek.begin(req)
		}
		resp := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel}, FinishReason: genai.FinishReasonStop}
		for range w.wide {
			resp.Content.Parts = append(resp.Content.Parts, genai.NewPartFromFunctionCall("dump", map[string]any{"n": w.next}))
			w.next++
		}
		if w.unknown && w.round == 1 {
			resp.Content.Parts = append(resp.Content.Parts, genai.NewPartFromFunctionCall("no_such_tool", map[string]any{}))
		}
		return resp
	}
	return answer()
}

// receive takes a part of a result that it reads back, or notes a result that is to be read back.
func (w *worker) receive(response *genai.FunctionResponse) {
	if response.Name == toolsearch.SearchToolName && response.Response["ref_id"] == nil {
		w.a.seen.returned(response.Response) // a later mask refers to it
		return
	}
	if response.Name != "read_result" {
		if found, _ := response.Response["ref_id"].(string); w.reads && found != "" {
			w.must = append(w.must, found)
		}
		return
	}
	if len(w.must) == 0 {
		w.a.t.Errorf("%s: an answer of read_result to nobody", w.name)
		return
	}
	var got struct {
		Content    string `json:"content"`
		Offset     int    `json:"offset"`
		NextOffset int    `json:"next_offset"`
		TotalBytes int    `json:"total_bytes"`
		Done       bool   `json:"done"`
		Error      string `json:"error"`
	}
	data, err := json.Marshal(response.Response)
	if err != nil {
		w.a.t.Error(err)
	}
	if err := json.Unmarshal(data, &got); err != nil {
		w.a.t.Errorf("%s: read_result returned %s: %v", w.name, data, err)
	}
	w.part += got.Content
	if got.Error != "" && w.forgiving {
		w.must, w.at, w.part = w.must[1:], 0, ""
		return
	}
	if !got.Done && got.NextOffset > w.at {
		w.at = got.NextOffset
		return
	}
	if !got.Done {
		w.a.t.Errorf("%s: %s cannot be read on from %d: %.300s", w.name, w.must[0], w.at, data)
	}
	w.a.seen.hasRead(w.must[0], w.part)
	if want, known := w.a.seen.whole(w.must[0]); !known || want != w.part {
		w.a.t.Errorf("%s: %d bytes of %s were read back, want %d: %.80q", w.name, len(w.part), w.must[0], len(want), w.part)
	}
	w.done++
	w.must, w.at, w.part = w.must[1:], 0, ""
}

func (w *worker) readNext() *model.LLMResponse {
	return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
		genai.NewPartFromFunctionCall("read_result", map[string]any{"ref_id": w.must[0], "offset": w.at, "limit": 16_384}),
	}}, FinishReason: genai.FinishReasonStop}
}

// sign gives each call a signature that depends on the call, as thinking models do.
func (w *worker) sign(resp *model.LLMResponse) {
	for _, part := range resp.Content.Parts {
		if part.FunctionCall != nil {
			part.ThoughtSignature = signature(part.FunctionCall)
		}
	}
}

// signature depends on the tool and its arguments, whether it is called through tool_call or directly.
func signature(call *genai.FunctionCall) []byte {
	name, args := call.Name, any(call.Args)
	if name == toolsearch.CallToolName {
		name, args = fmt.Sprint(call.Args["name"]), call.Args["arguments"]
	}
	text := canonical(args)
	if text == "null" { // storage keeps no empty map
		text = "{}"
	}
	return []byte("signed " + name + " " + text)
}

// dump is a tool with large results of many forms.
func (a *toolApp) dump() tool.Tool {
	a.t.Helper()
	made, err := functiontool.New(functiontool.Config{Name: "dump", Description: "Returns a file."}, func(_ agent.ToolContext, args lookupArgs) (map[string]any, error) {
		result := dumped(args.N)
		a.seen.dumps.Add(1)
		a.seen.returned(result)
		return result, nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// dumped is the result of the tool for a file: text with many lines, one long line full of characters that
// JSON escapes, nested JSON, a failed command, or something small.
func dumped(n int) map[string]any {
	switch n % 5 {
	case 0:
		var text strings.Builder
		for i := range 500 {
			fmt.Fprintf(&text, "%04d: the quick brown fox of file %d jumps over line %d — ünïcödé\n", i, n, i)
		}
		return map[string]any{"output": text.String()}
	case 1:
		return map[string]any{"n": n, "html": strings.Repeat(fmt.Sprintf("<a href=\"%d\">&\t\u0001</a>", n), 800)}
	case 2:
		var rows []any
		for i := range 300 {
			rows = append(rows, map[string]any{"id": i, "path": fmt.Sprintf("/src/%d/file%d.go", n, i), "text": "some text of the row"})
		}
		return map[string]any{"n": n, "rows": rows, "status": "ok"}
	case 3:
		return map[string]any{"n": n, "exit_code": 1, "error": "exit status 1", "output": strings.Repeat("FAIL: something is wrong here\n", 400)}
	default:
		return map[string]any{"n": n, "output": "a short result"}
	}
}

var refPattern = regexp.MustCompile(`r-[0-9a-f]{16}`)

func (s *seen) returned(result map[string]any) {
	whole := store.ResultOf(result)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[whole.Ref] = whole.Content
}

func (s *seen) whole(ref string) (content string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, known = s.results[ref]
	return content, known
}

func (s *seen) hasRead(ref, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read[ref] = content
}

// request notes a request and the references in it.
func (s *seen) request(data string, size int, foreign bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, data)
	s.largest = max(s.largest, size)
	for _, found := range refPattern.FindAllString(data, -1) {
		if !foreign && !slices.Contains(s.refs, found) {
			s.refs = append(s.refs, found)
		}
	}
}
