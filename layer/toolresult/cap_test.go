package toolresult_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/tokens"
)

// inPrompt is what a result of the tool "shell" counts in a prompt, and what its texts count as they are: a provider may
// read either.
func inPrompt(response map[string]any) int {
	texts := textsIn(response)
	return max(texts, tokens.OfPart(&genai.Part{FunctionResponse: &genai.FunctionResponse{Name: "shell", Response: response}}))
}

// textsIn is what the texts of a value count.
func textsIn(v any) (n int) {
	switch v := v.(type) {
	case string:
		return tokens.Estimate(v)
	case map[string]any:
		for _, element := range v {
			n += textsIn(element)
		}
	case []any:
		for _, element := range v {
			n += textsIn(element)
		}
	}
	return n
}

// texts are results of as many bytes, of several kinds.
func texts(size int) map[string]map[string]any {
	random := rand.New(rand.NewPCG(1, 2))
	fill := func(piece func() string) string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(piece())
		}
		return b.String()[:size]
	}
	line := 0
	all := map[string]map[string]any{}
	for name, text := range map[string]string{
		"one word":    strings.Repeat("x", size),
		"words":       strings.Repeat("word ", size/5),
		"short lines": strings.Repeat("a\n", size/2),
		"empty lines": strings.Repeat("\n", size),
		"log":         fill(func() string { line++; return fmt.Sprintf("line %d of the log\n", line) }),
		"code":        fill(func() string { return fmt.Sprintf("\tif x%d != \"\" {\n\t\treturn err\n\t}\n", random.IntN(100)) }),
		"digits":      fill(func() string { return fmt.Sprint(random.IntN(1000)) }),
		"quotes":      strings.Repeat(`"\`, size/2),
		"tags":        strings.Repeat("<b>&", size/4),
	} {
		all[name] = map[string]any{"output": text}
	}
	return all
}

func TestNoCutResultExceedsItsLimitOfTokens(t *testing.T) {
	t.Parallel()
	for _, most := range []int{100, 4000} {
		for _, strategy := range []toolresult.Strategy{toolresult.Lines, toolresult.Head, toolresult.Tail, toolresult.Both} {
			for _, readable := range []bool{false, true} {
				c := newCutter(t, toolresult.Config{Readable: readable, Limits: toolresult.Limits{
					MaxTokens: most, MaxBytes: toolresult.Off, MaxLines: toolresult.Off, StubAbove: toolresult.Off, Strategy: strategy}})
				for _, size := range []int{2 * most, 4 * most, 20 * most} {
					for name, response := range texts(size) {
						got, cut, changed := c.Response("shell", response)
						about := fmt.Sprintf("%d tokens, %s, readable %v, %d bytes of %s", most, strategy, readable, size, name)
						n := inPrompt(got)
						if n > most {
							t.Errorf("%s: %d tokens are left, changed %v", about, n, changed)
						}
						if !changed {
							continue
						}
						if cut.TokensAfter < n || cut.TokensAfter > most {
							t.Errorf("%s: the cut says %d, there are %d", about, cut.TokensAfter, n)
						}
						if kept, of, ok := keptTokens(got["output"]); ok && (kept > most || kept > cut.TokensAfter+cut.TokensAfter/20+1 || of < kept || float64(of) > 1.2*float64(cut.TokensBefore)+10) {
							t.Errorf("%s: the marker says %d of %d, the cut %d of %d", about, kept, of, cut.TokensAfter, cut.TokensBefore)
						}
					}
				}
			}
		}
	}
}

// A cut may keep a large text: the cap allows many tokens, or each token of the text has many bytes.
func TestACapHoldsWhereMuchIsKept(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		most  int
		piece string
	}{
		"a megabyte of spaces":      {8_000, " "},
		"lines that are all spaces": {8_000, strings.Repeat(" ", 300) + "\n"},
		"words under a high cap":    {120_000, "word "},
	} {
		text := strings.Repeat(row.piece, 1<<20/len(row.piece))
		for shape, response := range map[string]map[string]any{
			"a text": {"output": text}, "an error": {"error": text, "status": "failed"},
			"a list": {"rows": []any{text[:len(text)/2], map[string]any{"rest": text[len(text)/2:]}}},
		} {
			for _, readable := range []bool{false, true} {
				c := newCutter(t, toolresult.Config{Readable: readable, Limits: toolresult.Limits{
					MaxTokens: row.most, MaxBytes: toolresult.Off, MaxLines: toolresult.Off, StubAbove: toolresult.Off, Strategy: toolresult.Both}})
				got, cut, changed := c.Response("shell", response)
				n := inPrompt(got)
				if !changed || n > row.most || n < row.most/2 {
					t.Errorf("%s, %s, readable %v: %d tokens are left of %d, the limit is %d", name, shape, readable, n, inPrompt(response), row.most)
				}
				if cut.TokensAfter < n || cut.TokensAfter > row.most {
					t.Errorf("%s, %s, readable %v: the cut says %d tokens, there are %d", name, shape, readable, cut.TokensAfter, n)
				}
			}
		}
	}
}

// keptTokens returns the numbers of a marker that counts tokens.
func keptTokens(v any) (kept, of int, ok bool) {
	text, _ := v.(string)
	i := strings.Index(text, "[truncated: kept ")
	if i < 0 {
		return 0, 0, false
	}
	_, text, _ = strings.Cut(text[i:], "~")
	_, err := fmt.Sscanf(text, "%d of ~%d tokens", &kept, &of)
	return kept, of, err == nil
}

func TestACutIsNeverLongerThanTheResult(t *testing.T) {
	t.Parallel()
	for _, limits := range []toolresult.Limits{
		{}, {StubAbove: toolresult.Off}, {StubAbove: 1}, {StubAbove: 300},
		{MaxBytes: 500, StubAbove: toolresult.Off}, {MaxBytes: 64, StubAbove: 64}, {MaxLines: 1}, {MaxLines: 9, Strategy: toolresult.Both},
		{MaxTokens: 32}, {MaxTokens: 300, Strategy: toolresult.Head}, {MaxTokens: 300, MaxBytes: toolresult.Off, MaxLines: toolresult.Off, StubAbove: toolresult.Off},
	} {
		for _, readable := range []bool{false, true} {
			if !readable && limits.StubAbove > 0 {
				continue
			}
			c := newCutter(t, toolresult.Config{Readable: readable, Limits: limits})
			for _, size := range []int{2, 20, 65, 100, 301, 505, 520, 1100, 4100, 10_230, 10_250} {
				for name, response := range texts(size) {
					got, cut, changed := c.Response("shell", response)
					if !changed {
						continue
					}
					about := fmt.Sprintf("%+v, readable %v, %d bytes of %s", limits, readable, size, name)
					if before, after := len(marshal(t, response)), len(marshal(t, got)); after > before || cut.BytesBefore != before || cut.BytesAfter != after {
						t.Errorf("%s: %d -> %d bytes, the cut says %d -> %d", about, before, after, cut.BytesBefore, cut.BytesAfter)
					}
					if before, after := inPrompt(response), inPrompt(got); after > before || cut.TokensAfter > cut.TokensBefore || cut.TokensBefore < before {
						t.Errorf("%s: %d -> %d tokens, the cut says %d -> %d", about, before, after, cut.TokensBefore, cut.TokensAfter)
					}
				}
			}
		}
	}
}
