package toolresult_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/genai"
	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/tokens"
)

// drawRequest draws a valid request of several turns with parallel calls, repeated calls, errors, notes,
// stubs, exempt tools and media.
func drawRequest(t *rapid.T) *model.LLMRequest {
	req := &model.LLMRequest{}
	if rapid.Bool().Draw(t, "summary") {
		req.Contents = append(req.Contents, genai.NewContentFromText("[Summary of an earlier part]", genai.RoleUser))
	}
	n := 0
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		req.Contents = append(req.Contents, genai.NewContentFromText(strings.Repeat("Please. ", rapid.IntRange(1, 50).Draw(t, "text")), genai.RoleUser))
		rounds := rapid.IntRange(0, 6).Draw(t, "rounds")
		for range rounds {
			calls, answers := &genai.Content{Role: genai.RoleModel}, &genai.Content{Role: genai.RoleUser}
			if rapid.Bool().Draw(t, "thought") {
				calls.Parts = append(calls.Parts, &genai.Part{Text: "Hm.", Thought: true, ThoughtSignature: []byte{9}})
			}
			for range rapid.IntRange(1, 4).Draw(t, "parallel") {
				n++
				call, answer := drawCall(t, n)
				calls.Parts, answers.Parts = append(calls.Parts, call), append(answers.Parts, answer)
			}
			req.Contents = append(req.Contents, calls, answers)
		}
		req.Contents = append(req.Contents, genai.NewContentFromText("Done.", genai.RoleModel))
	}
	if rapid.Bool().Draw(t, "asks") {
		req.Contents = append(req.Contents, genai.NewContentFromText("And?", genai.RoleUser))
	} else {
		req.Contents = req.Contents[:len(req.Contents)-1]
	}
	return req
}

func drawCall(t *rapid.T, n int) (call, answer *genai.Part) {
	tool := rapid.SampledFrom([]string{"look", "look", "look", "grep", "exit_loop", "diary", "read_result"}).Draw(t, "tool")
	call = genai.NewPartFromFunctionCall(tool, map[string]any{"n": n})
	if rapid.IntRange(0, 4).Draw(t, "repeat") == 0 {
		call.FunctionCall.Args = map[string]any{"path": "main.go"}
	}
	call.ThoughtSignature = []byte{byte(n)}
	size := rapid.SampledFrom([]int{0, 1, 30, 200, 400}).Draw(t, "size")
	result := map[string]any{"output": fmt.Sprint("line ", n) + strings.Repeat(" word", size)}
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		result = map[string]any{"error": strings.Repeat("no such é ", size)}
	case 1:
		result["context_status"] = "[Context: 80% used]"
	case 2:
		result = map[string]any{"result": "[Tool result stored — 9.9 KB" + strings.Repeat(" word", size), "ref_id": fmt.Sprintf("r-%016x", n)}
	case 3:
		result["lines"] = []any{1, "two", map[string]any{"three": 3.5, "four": nil, "five": true}}
	}
	answer = genai.NewPartFromFunctionResponse(tool, result)
	if rapid.IntRange(0, 9).Draw(t, "media") == 0 {
		answer.FunctionResponse.Parts = []*genai.FunctionResponsePart{{InlineData: &genai.FunctionResponseBlob{MIMEType: "image/png", Data: []byte("png")}}}
	}
	return call, answer
}

func drawMasking(t *rapid.T) (toolresult.Masking, toolresult.Room) {
	return toolresult.Masking{
		KeepFirst:   rapid.SampledFrom([]int{0, toolresult.Off, 1, 3}).Draw(t, "first"),
		KeepLast:    rapid.SampledFrom([]int{0, toolresult.Off, 1, 3}).Draw(t, "last"),
		BatchTokens: rapid.SampledFrom([]int{toolresult.Off, 300, 1_000}).Draw(t, "batch"),
		From:        rapid.SampledFrom([]float64{toolresult.Off, 0.25, 1}).Draw(t, "from"),
		Exempt:      []string{"diary"},
	}, toolresult.Room{Effective: rapid.IntRange(0, 4_000).Draw(t, "window"), Fixed: rapid.IntRange(0, 1_000).Draw(t, "fixed")}
}

// copyOf returns a copy of the first n contents that shares no content, part or response with req.
func copyOf(req *model.LLMRequest, n int) *model.LLMRequest {
	out := &model.LLMRequest{}
	for _, c := range req.Contents[:n] {
		content := &genai.Content{Role: c.Role}
		for _, p := range c.Parts {
			part := *p
			if p.FunctionResponse != nil {
				response := *p.FunctionResponse
				part.FunctionResponse = &response
			}
			content.Parts = append(content.Parts, &part)
		}
		out.Contents = append(out.Contents, content)
	}
	return out
}

// sent returns the contents of a request as they are sent.
func sent(t interface{ Fatal(...any) }, req *model.LLMRequest) []string {
	var out []string
	for _, c := range req.Contents {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(data))
	}
	return out
}

// ends returns the lengths of the requests that led to req: each ends where the model answered.
func ends(req *model.LLMRequest) []int {
	var out []int
	for i, c := range req.Contents {
		if c.Role == genai.RoleModel && i > 0 {
			out = append(out, i)
		}
	}
	return append(out, len(req.Contents))
}

func TestMaskingIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		req := drawRequest(t)
		cfg, room := drawMasking(t)
		if problems := requests.Problems(req.Contents); len(problems) > 0 {
			t.Fatal("the drawn request is not valid", problems)
		}
		m, err := toolresult.NewMasker(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var before []string
		extended := &model.LLMRequest{} // each request is the masked one before, and what is new
		for _, n := range ends(req) {
			extended.Contents = append(extended.Contents, copyOf(req, n).Contents[len(extended.Contents):]...)
			whole, got := copyOf(req, n), copyOf(req, n)
			masked := m.Apply(got, room, nil)
			checkMasked(t, whole, copyOf(got, n), masked)
			now := sent(t, got)

			// An earlier request is the start of a later one, up to the content where a batch begins.
			same := len(before)
			if masked.Batch {
				same = min(same, masked.At)
			}
			for i := range same {
				if before[i] != now[i] {
					t.Fatalf("content %d of %d changed, and the report is %+v:\n%s\n%s", i, n, masked, before[i], now[i])
				}
			}
			if masked.Batch && masked.At < len(before) && before[masked.At] == now[masked.At] {
				t.Fatalf("content %d of %d did not change: %+v", masked.At, n, masked)
			}
			before = now

			again := copyOf(got, n)
			m.Apply(again, room, nil)
			other, _ := toolresult.NewMasker(cfg)
			restarted := copyOf(req, n)
			other.Apply(restarted, room, nil)
			late := copyOf(got, n)
			other, _ = toolresult.NewMasker(cfg)
			other.Apply(late, room, nil)
			m.Apply(extended, room, nil)
			for name, r := range map[string]*model.LLMRequest{"step by step": extended, "again": again, "by another process": restarted, "again by another process": late} {
				if a, b := strings.Join(sent(t, r), "\n"), strings.Join(now, "\n"); a != b {
					t.Fatalf("masked %s:\n%s\nfirst:\n%s", name, a, b)
				}
			}
		}
	})
}

// checkMasked compares a masked request with the whole one.
func checkMasked(t *rapid.T, whole, got *model.LLMRequest, masked toolresult.Masked) {
	if problems := requests.Problems(got.Contents); len(problems) > 0 {
		t.Fatal(problems)
	}
	all, now := responses(whole), responses(got)
	if masked.Failed > 0 || masked.Err != nil || len(all) != len(now) {
		t.Fatalf("%+v", masked)
	}
	results, newest := 0, len(all)
	if rounds := ends(whole); len(rounds) > 1 {
		for i := len(whole.Contents) - 1; i >= 0; i-- {
			if len(requests.Calls(whole.Contents[i])) > 0 {
				newest = len(all) - len(requests.Calls(whole.Contents[i]))
				break
			}
		}
	}
	for i, r := range now {
		text, _ := r.Response["result"].(string)
		if !strings.HasPrefix(text, "[result masked") {
			continue
		}
		results++
		want := store.ResultOf(all[i].Response).Ref
		if ref, ok := toolresult.IsShortened(r.Name, all[i].Response); ok {
			want = ref
		}
		if r.Response["ref_id"] != want || masked.Refs[results-1] != want {
			t.Fatalf("the mask of %v is %v, reported %v", all[i].Response, r.Response, masked.Refs[results-1])
		}
		if i >= newest || r.Name == "diary" || r.Name == "exit_loop" {
			t.Fatalf("%s, result %d of %d, was masked", r.Name, i, len(all))
		}
		if now, before := sizeOf(r), sizeOf(all[i]); now >= before {
			t.Fatalf("a mask of %d tokens for a result of %d", now, before)
		}
		r.Response = all[i].Response // nothing else may differ
	}
	if masked.Results != results || len(masked.Refs) != results {
		t.Fatalf("%d results are masked: %+v", results, masked)
	}
	restored := strings.Join(sent(t, got), "\n")
	if original := strings.Join(sent(t, whole), "\n"); restored != original {
		t.Fatalf("more than responses changed:\n%s\n%s", restored, original)
	}
}

func sizeOf(r *genai.FunctionResponse) int {
	return tokens.OfPart(&genai.Part{FunctionResponse: &genai.FunctionResponse{Name: r.Name, Response: r.Response}})
}

// Many sessions share a masker: neither the order of requests nor what it remembers changes a result.
func TestTheOrderOfRequestsDoesNotMatter(t *testing.T) {
	t.Parallel()
	req := rapid.Custom(drawRequest).Example(11)
	for seed := 12; len(req.Contents) < 30; seed++ {
		req = rapid.Custom(drawRequest).Example(seed)
	}
	cfg := toolresult.Masking{KeepFirst: 1, KeepLast: 2, BatchTokens: 300, From: 0.5}
	room := toolresult.Room{Effective: 3_000, Fixed: 200}
	shared := newMasker(t, cfg)
	want := map[int]string{}
	for _, n := range ends(req) {
		got := copyOf(req, n)
		newMasker(t, cfg).Apply(got, room, nil)
		want[n] = strings.Join(sent(t, got), "\n")
	}
	if !strings.Contains(want[len(req.Contents)], "[result masked") {
		t.Fatal("nothing is masked: the test shows nothing")
	}
	var wg sync.WaitGroup
	for run := range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			order := ends(req)
			rand.New(rand.NewPCG(1, uint64(run))).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, n := range order {
				got := copyOf(req, n)
				shared.Apply(got, room, nil)
				if text := strings.Join(sent(t, got), "\n"); text != want[n] {
					t.Errorf("run %d: the first %d contents differ", run, n)
				}
			}
		}()
	}
	wg.Wait()
}

func TestTheLastResortsKeepARequestValid(t *testing.T) {
	t.Parallel()
	testkit.Check(t, func(t *rapid.T) {
		req := drawRequest(t)
		cfg, room := drawMasking(t)
		cfg.KeepFirst = 1 // masking is on
		m, err := toolresult.NewMasker(cfg)
		if err != nil {
			t.Fatal(err)
		}
		got := copyOf(req, len(req.Contents))
		m.Apply(got, room, nil)
		m.ApplyAll(got, nil)
		all := copyOf(got, len(got.Contents))
		if m.ApplyAll(all, nil); strings.Join(sent(t, all), "") != strings.Join(sent(t, got), "") {
			t.Fatal("masking everything twice differs from once")
		}
		least := rapid.IntRange(0, len(req.Contents)+1).Draw(t, "fits")
		kept := sent(t, got)
		toolresult.Drop(got, func() bool { return len(got.Contents) <= least })
		if problems := requests.Problems(got.Contents); len(problems) > 0 {
			t.Fatal(problems)
		}
		now := sent(t, got)
		if len(now) != len(kept) {
			now = now[1:] // the notice
		}
		// What is left is in order, and only calls and responses are gone.
		for _, c := range kept {
			switch {
			case len(now) > 0 && now[0] == c:
				now = now[1:]
			case !strings.Contains(c, `"functionCall"`) && !strings.Contains(c, `"functionResponse"`):
				t.Fatalf("gone: %s", c)
			}
		}
		if len(now) > 0 {
			t.Fatalf("new or out of order: %s", now[0])
		}
		twice := copyOf(got, len(got.Contents))
		toolresult.Drop(twice, func() bool { return len(twice.Contents) <= len(got.Contents) })
		if strings.Join(sent(t, twice), "") != strings.Join(sent(t, got), "") {
			t.Fatal("dropping twice differs from once")
		}
	})
}
