package store_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

func TestAReferenceSurvivesEveryBackend(t *testing.T) {
	t.Parallel()
	refs := map[string]string{}
	for _, r := range []struct {
		name     string
		response map[string]any
		content  string
		text     bool
	}{
		{"nothing", nil, `null`, false},
		{"an empty map", map[string]any{}, `{}`, false},
		{"one text", map[string]any{"output": "a\nb<>&"}, "a\nb<>&", true},
		{"one text under another key", map[string]any{"result": "a\nb<>&"}, "a\nb<>&", true},
		{"one text, no UTF-8", map[string]any{"output": "a\xffb"}, "a\xffb", true},
		{"one number", map[string]any{"output": 1}, `{"output":1}`, false},
		{"text and code", map[string]any{"output": "a\nb", "exit_code": int64(1)}, `{"exit_code":1,"output":"a\nb"}`, false},
		{"a number that float64 rounds", map[string]any{"id": int64(9007199254740993)}, `{"id":9007199254740992}`, false},
		{"no number", map[string]any{"x": math.NaN()}, `{"x":"[NaN]"}`, false},
	} {
		got := store.ResultOf(r.response)
		if got.Content != r.content || got.Text != r.text || !store.IsRef(got.Ref) {
			t.Errorf("%s: %+v, want content %q, text %v and a reference", r.name, got, r.content, r.text)
		}
		if other, twice := refs[got.Ref]; twice {
			t.Errorf("%s and %s have the same reference", r.name, other)
		}
		refs[got.Ref] = r.name
		data, err := json.Marshal(r.response)
		if err != nil {
			continue // no backend stores it as JSON
		}
		var loaded map[string]any
		if err := json.Unmarshal(data, &loaded); err != nil {
			t.Fatal(err)
		}
		if again := store.ResultOf(loaded); again.Ref != got.Ref {
			t.Errorf("%s: the reference is %s, and after a round trip %s", r.name, got.Ref, again.Ref)
		}
	}
}

func TestOnlyReferencesLookLikeReferences(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "r-", "r-1234", "r-3f9a0c11d2e47b5", "r-3F9A0C11D2E47B58", "x-3f9a0c11d2e47b58", "r-3f9a0c11d2e47b58 ", strings.Repeat("r", 18)} {
		if store.IsRef(s) {
			t.Errorf("%q passes for a reference", s)
		}
	}
}

func ExampleResultOf() {
	result := store.ResultOf(map[string]any{"output": "3 files changed"})
	fmt.Println(result.Ref, result.Content)
	// Output: r-0d00a3fa4116c0da 3 files changed
}
