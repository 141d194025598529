package adk_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
)

func TestCopySharesNothing(t *testing.T) {
	t.Parallel()
	args := map[string]any{"list": []any{"a", map[string]any{"k": 1.5}}, "at": time.Unix(7, 0)}
	original := &genai.Content{Role: "model", Parts: []*genai.Part{
		nil,
		{Text: "hi"},
		{FunctionCall: &genai.FunctionCall{ID: "c", Args: args}},
		{InlineData: &genai.Blob{Data: []byte("xyz"), MIMEType: "image/png"}},
	}}
	copied := adk.DeepCopy(original)
	if diff := cmp.Diff(original, copied); diff != "" {
		t.Fatalf("copy differs (-original +copy):\n%s", diff)
	}
	copied.Parts[1].Text = "changed"
	copied.Parts[2].FunctionCall.Args["list"].([]any)[1].(map[string]any)["k"] = 2.0
	copied.Parts[3].InlineData.Data[0] = '!'
	copied.Parts[2].FunctionCall.Args["new"] = true
	if original.Parts[1].Text != "hi" || args["list"].([]any)[1].(map[string]any)["k"] != 1.5 ||
		original.Parts[3].InlineData.Data[0] != 'x' || len(args) != 2 {
		t.Errorf("writing to the copy changed the original: %+v", original)
	}
}

func TestValueThatContainsItselfDoesNotHang(t *testing.T) {
	t.Parallel()
	loop := map[string]any{}
	loop["self"] = loop
	if got := adk.DeepCopy(loop); got["self"] == nil {
		t.Error("the copy lost its first level")
	}
}

func TestNilStaysNil(t *testing.T) {
	t.Parallel()
	if got := adk.DeepCopy[*genai.Content](nil); got != nil {
		t.Errorf("got %v, want nil", got)
	}
	if got := adk.DeepCopy[any](nil); got != nil {
		t.Errorf("got %v, want nil", got)
	}
}
