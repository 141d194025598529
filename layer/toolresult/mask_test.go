package toolresult_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/tokens"
)

// rounds is a request with one round for each result: a user's message, then calls and responses.
func rounds(results ...map[string]any) *model.LLMRequest {
	req := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("Do it.", genai.RoleUser)}}
	for n, result := range results {
		addRound(req, n, result)
	}
	return req
}

func addRound(req *model.LLMRequest, n int, results ...map[string]any) {
	calls, answers := &genai.Content{Role: genai.RoleModel}, &genai.Content{Role: genai.RoleUser}
	for i, result := range results {
		call := genai.NewPartFromFunctionCall("look", map[string]any{"at": fmt.Sprint(n, ".", i)})
		call.ThoughtSignature = []byte{byte(n), byte(i)}
		calls.Parts = append(calls.Parts, call)
		answers.Parts = append(answers.Parts, genai.NewPartFromFunctionResponse("look", result))
	}
	req.Contents = append(req.Contents, calls, answers)
}

// page is a result of about the given number of tokens, which differs for each n.
func page(n, size int) map[string]any {
	return map[string]any{"output": fmt.Sprintf("page %d\n", n) + strings.Repeat("word and ", size/2)}
}

// eager masks every result as soon as it may, in requests of any size.
func eager(first, last int) toolresult.Masking {
	return toolresult.Masking{KeepFirst: first, KeepLast: last, BatchTokens: toolresult.Off, From: toolresult.Off}
}

func newMasker(t testing.TB, cfg toolresult.Masking) *toolresult.Masker {
	t.Helper()
	m, err := toolresult.NewMasker(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func responses(req *model.LLMRequest) []*genai.FunctionResponse {
	var out []*genai.FunctionResponse
	for _, c := range req.Contents {
		out = append(out, requests.Responses(c)...)
	}
	return out
}

// shown returns "x" for each visible result of a request and "-" for each masked one.
func shown(req *model.LLMRequest) string {
	var out strings.Builder
	for _, r := range responses(req) {
		if text, _ := r.Response["result"].(string); strings.HasPrefix(text, "[result masked") {
			out.WriteByte('-')
		} else {
			out.WriteByte('x')
		}
	}
	return out.String()
}

func TestTheMiddleIsMasked(t *testing.T) {
	t.Parallel()
	off := toolresult.Off
	for _, r := range []struct {
		results, first, last int
		want                 string
	}{
		{8, 2, 3, "xx---xxx"}, // the specification's example
		{8, 0, 0, "xx-xxxxx"}, // the defaults, 2 and 5
		{7, 0, 0, "xxxxxxx"},
		{7, 2, 5, "xxxxxxx"},
		{1, 2, 5, "x"},
		{0, 2, 5, ""},
		{5, 1, 1, "x---x"},
		{5, off, 1, "----x"},
		{5, 1, off, "x---x"},   // the newest round stays
		{5, off, off, "xxxxx"}, // turned off
		{5, 10, 1, "xxxxx"},
		{5, 1, 10, "xxxxx"},
		{5, math.MaxInt, math.MaxInt, "xxxxx"},
	} {
		req := rounds()
		for n := range r.results {
			addRound(req, n, page(n, 300))
		}
		masked := newMasker(t, eager(r.first, r.last)).Apply(req, toolresult.Room{}, nil)
		if got := shown(req); got != r.want {
			t.Errorf("%d results, keep %d and %d: %s, want %s", r.results, r.first, r.last, got, r.want)
		}
		if n := strings.Count(r.want, "-"); masked.Results != n || len(masked.Refs) != n {
			t.Errorf("%d results, keep %d and %d: reported %+v, want %d masked", r.results, r.first, r.last, masked, n)
		}
	}
}

func TestAMaskHasTheNumberAndTheReference(t *testing.T) {
	t.Parallel()
	whole := page(0, 12_000)
	req := rounds(whole, page(1, 10))
	size := tokens.OfPart(req.Contents[2].Parts[0])
	masked := newMasker(t, eager(toolresult.Off, 1)).Apply(req, toolresult.Room{}, nil)
	want := map[string]any{
		"result": fmt.Sprintf("[result masked — ~%d tokens removed]", size),
		"ref_id": store.ResultOf(whole).Ref,
	}
	if got := responses(req)[0].Response; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, ok := whole["output"]; !ok || len(whole) != 1 {
		t.Errorf("the result itself was changed: %v", whole)
	}
	if saved := size - tokens.OfPart(req.Contents[2].Parts[0]); math.Abs(float64(masked.Tokens-saved)) > 10 {
		t.Errorf("reported %d tokens, and the request has %d fewer", masked.Tokens, saved)
	}
}

func TestBatchesBreakThePrefixSeldom(t *testing.T) {
	t.Parallel()
	m := newMasker(t, toolresult.Masking{KeepFirst: 1, KeepLast: 2, BatchTokens: 500, From: toolresult.Off})
	var got []string
	for n := 1; n <= 9; n++ {
		req := rounds()
		for i := range n {
			addRound(req, i, page(i, 300))
		}
		masked := m.Apply(req, toolresult.Room{}, nil)
		line := shown(req)
		if masked.Batch {
			line += fmt.Sprint(" from ", masked.At)
		}
		got = append(got, line)
	}
	want := []string{"x", "xx", "xxx", "xxxx", "x--xx from 4", "x--xxx", "x----xx from 8", "x----xxx", "x------xx from 12"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNothingIsMaskedWhileThereIsRoom(t *testing.T) {
	t.Parallel()
	req := func() *model.LLMRequest {
		return rounds(page(0, 300), page(1, 300), page(2, 300), page(3, 300))
	}
	size := 0
	for _, c := range req().Contents {
		size += tokens.OfContent(c) + 4
	}
	for _, r := range []struct {
		effective, fixed int
		from             float64
		want             string
	}{
		{0, 0, 0, "---x"},
		{4 * size, 0, 0, "---x"},   // a quarter is the default
		{4*size + 4, 0, 0, "xxxx"}, // one token less than a quarter
		{4*size + 4, 1, 0, "---x"}, // the fixed part counts
		{2 * size, 0, 0.5, "---x"},
		{2*size + 2, 0, 0.5, "xxxx"},
		{1_000_000, 0, toolresult.Off, "---x"},
	} {
		cfg := eager(toolresult.Off, 1)
		cfg.From = r.from
		cfg.BatchTokens = 600
		got := req()
		newMasker(t, cfg).Apply(got, toolresult.Room{Effective: r.effective, Fixed: r.fixed}, nil)
		if shown(got) != r.want {
			t.Errorf("%+v of %d tokens: %s, want %s", r, size, shown(got), r.want)
		}
	}
}

func TestWhatStaysVisible(t *testing.T) {
	t.Parallel()
	mask := func(tool string, response map[string]any) map[string]any {
		req := rounds(response, page(1, 10))
		req.Contents[1].Parts[0].FunctionCall.Name, req.Contents[2].Parts[0].FunctionResponse.Name = tool, tool
		cfg := eager(toolresult.Off, 1)
		cfg.Exempt = []string{"diary"}
		newMasker(t, cfg).Apply(req, toolresult.Room{}, nil)
		return responses(req)[0].Response
	}
	large := page(0, 300)
	for tool, response := range map[string]map[string]any{
		"small":              page(0, 8),
		"empty":              {},
		"nil":                nil,
		"diary":              large,
		"set_model_response": large,
		"transfer_to_agent":  large,
		"read_result":        large, // without a reference it could not be read again
	} {
		if got := mask(tool, response); !reflect.DeepEqual(got, response) {
			t.Errorf("%s was masked: %v", tool, got)
		}
	}
	ref := "r-00112233445566aa"
	if got := mask("read_result", map[string]any{"content": large["output"], "ref_id": ref}); got["ref_id"] != ref || got["content"] != nil {
		t.Errorf("an answer of read_result that can be read again: %v", got)
	}
	long := strings.Repeat("é no such file ", 40)
	got := mask("look", map[string]any{"error": long, "output": large["output"], "context_status": "[Context: 80% used]"})
	if got["error"] != string([]rune(long)[:200]) || got["context_status"] != "[Context: 80% used]" || got["output"] != nil {
		t.Errorf("an error and a note: %v", got)
	}
	if got := mask("look", map[string]any{"error": map[string]any{"why": long}}); got["error"] != string([]rune(`{"why":"` + long)[:200]) {
		t.Errorf("an error that is an object: %v", got)
	}
	if got := mask("look", map[string]any{"error": nil, "output": large["output"]}); len(got) != 2 {
		t.Errorf("no error: %v", got)
	}
}

func TestAMaskKeepsTheReferenceOfAShortenedResult(t *testing.T) {
	t.Parallel()
	cutter, err := toolresult.New(toolresult.Config{Readable: true, Limits: toolresult.Limits{StubAbove: 2_000}})
	if err != nil {
		t.Fatal(err)
	}
	// A stub of a failed call is larger than its mask.
	whole := map[string]any{"output": strings.Repeat("word and ", 300), "exit_code": 1}
	stub, _, cut := cutter.Response("look", whole)
	imitation := page(1, 300)
	imitation["ref_id"] = "r-00112233445566aa"
	req := rounds(stub, imitation, page(2, 10))
	newMasker(t, eager(toolresult.Off, 1)).Apply(req, toolresult.Room{}, nil)
	for i, of := range []map[string]any{whole, imitation} {
		got := responses(req)[i].Response
		if want := store.ResultOf(of).Ref; got["ref_id"] != want || !cut {
			t.Errorf("result %d: %v, want the reference %s", i, got, want)
		}
		if ref, ok := toolresult.IsShortened("look", got); !ok || ref != got["ref_id"] {
			t.Errorf("result %d: the mask is not recognized: %v", i, got)
		}
	}
}

func TestTheNewestRoundStaysWhole(t *testing.T) {
	t.Parallel()
	req := rounds(page(0, 300))
	addRound(req, 1, page(1, 300), page(2, 300), page(3, 300))
	for name, apply := range map[string]func(m *toolresult.Masker){
		"Apply":    func(m *toolresult.Masker) { m.Apply(req, toolresult.Room{}, nil) },
		"ApplyAll": func(m *toolresult.Masker) { m.ApplyAll(req, nil) },
	} {
		apply(newMasker(t, eager(toolresult.Off, 1)))
		if got := shown(req); got != "-xxx" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheLastResortMasksTheFirstAndTheLastToo(t *testing.T) {
	t.Parallel()
	req := rounds(page(0, 300), page(1, 300), page(2, 8), page(3, 300), page(4, 300))
	masked := newMasker(t, toolresult.Masking{}).ApplyAll(req, nil)
	if got := shown(req); got != "--x-x" || masked.Results != 3 || !masked.Batch || masked.At != 2 {
		t.Errorf("%s, %+v", got, masked)
	}
}

func TestARepeatedCallIsMaskedWithTheBatch(t *testing.T) {
	t.Parallel()
	again := func(last map[string]any) *model.LLMRequest {
		req := rounds(page(0, 300), page(1, 300), page(2, 300), last)
		req.Contents[7].Parts[0].FunctionCall.Args = req.Contents[5].Parts[0].FunctionCall.Args // the fourth call is the third
		return req
	}
	m := newMasker(t, eager(toolresult.Off, 3))
	req := again(page(3, 300))
	if m.Apply(req, toolresult.Room{}, nil); shown(req) != "-x-x" {
		t.Errorf("the same call twice: %s", shown(req))
	}
	req = again(map[string]any{"error": "gone"})
	if m.Apply(req, toolresult.Room{}, nil); shown(req) != "-xxx" {
		t.Errorf("the repetition failed: %s", shown(req))
	}
	req = again(page(3, 300))
	if newMasker(t, eager(1, 3)).Apply(req, toolresult.Room{}, nil); shown(req) != "xxxx" {
		t.Errorf("no batch is due: %s", shown(req))
	}
}

func TestAResultThatCannotBeStoredStaysVisible(t *testing.T) {
	t.Parallel()
	req := rounds(page(0, 300), page(1, 300), page(2, 300), page(3, 8))
	var stored []store.Result
	full := errors.New("full")
	masked := newMasker(t, eager(toolresult.Off, 1)).Apply(req, toolresult.Room{}, func(tool string, r store.Result) error {
		stored = append(stored, r)
		switch {
		case tool != "look":
			t.Errorf("tool %q", tool)
		case len(stored) == 1:
			return full
		case len(stored) == 2:
			panic("full")
		}
		return nil
	})
	if shown(req) != "xx-x" || masked.Results != 1 || masked.Failed != 2 || !errors.Is(masked.Err, full) {
		t.Errorf("%s, %+v", shown(req), masked)
	}
	if len(stored) != 3 || stored[2] != store.ResultOf(page(2, 300)) {
		t.Errorf("stored: %+v", stored)
	}
}

func TestMaskingRefusesBadNumbers(t *testing.T) {
	t.Parallel()
	_, err := toolresult.NewMasker(toolresult.Masking{KeepFirst: -2, KeepLast: -3, BatchTokens: -4, From: 1.5, Exempt: []string{"a", ""}})
	for _, want := range []string{"masking config: KeepFirst is -2", "KeepLast is -3", "BatchTokens is -4", "From is 1.5", `Exempt is ""`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	if _, err := toolresult.NewMasker(toolresult.Masking{From: math.NaN()}); err == nil {
		t.Error("a share that is no number passes")
	}
	var config *toolresult.ConfigError
	if !errors.As(err, &config) || config.Field != "KeepFirst" {
		t.Errorf("the first problem is %+v", config)
	}
}

func TestNoMaskerMasksNothing(t *testing.T) {
	var none *toolresult.Masker
	for _, m := range []*toolresult.Masker{none, {}, newMasker(t, eager(toolresult.Off, toolresult.Off))} {
		req := rounds(page(0, 300), page(1, 300))
		if m.Apply(req, toolresult.Room{}, nil); shown(req) != "xx" {
			t.Error("masked by Apply")
		}
		if m.ApplyAll(req, nil); shown(req) != "xx" {
			t.Error("masked by ApplyAll")
		}
		if allocs := testing.AllocsPerRun(5, func() { m.Apply(req, toolresult.Room{}, nil) }); allocs > 0 {
			t.Errorf("%v allocations", allocs)
		}
	}
	newMasker(t, toolresult.Masking{}).Apply(nil, toolresult.Room{}, nil)
	newMasker(t, toolresult.Masking{}).Apply(&model.LLMRequest{Contents: []*genai.Content{nil, {}, {Parts: []*genai.Part{nil}}}}, toolresult.Room{}, nil)
}
