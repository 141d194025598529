package toolsearch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
)

// historyFrom makes a conversation of data: any mix of tools, parallel calls, answers in any order, with and
// without IDs, words, thoughts and signatures.
func historyFrom(data []byte) []*genai.Content {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		n := int(data[0])
		data = data[1:]
		return n
	}
	names := []string{"weather", "mail", "read", "gone", "transfer_to_agent", "tool_search", "tool_call", "set_model_response"}
	out := []*genai.Content{user("hi")}
	for n := 0; len(data) > 0; {
		how := next()
		withIDs := how&1 != 0
		calls, answers := &genai.Content{Role: genai.RoleModel}, &genai.Content{Role: genai.RoleUser}
		if how&2 != 0 {
			calls.Parts = append(calls.Parts, &genai.Part{Text: "hm", Thought: how&4 != 0, ThoughtSignature: []byte{byte(how)}})
		}
		for range how>>3&3 + 1 {
			n++
			kind := next()
			name, id := names[kind%len(names)], ""
			if withIDs {
				id = fmt.Sprint("id-", n)
			}
			args := map[string]any{"n": float64(n)}
			if kind&64 != 0 {
				args["name"], args["arguments"] = "x", map[string]any{"deep": []any{nil, "y"}}
			}
			part := call(id, name, args)
			if kind&32 != 0 {
				part.ThoughtSignature = []byte{byte(n)}
			}
			calls.Parts = append(calls.Parts, part)
			response := answer(id, name, map[string]any{"n": float64(n)})
			if kind&16 != 0 {
				answers.Parts = append([]*genai.Part{response}, answers.Parts...)
			} else {
				answers.Parts = append(answers.Parts, response)
			}
		}
		out = append(out, calls, answers)
		if how&32 != 0 {
			out = append(out, said(&genai.Part{Text: "done"}), user("go on"))
		}
	}
	return out
}

func FuzzTranslationThereAndBack(f *testing.F) {
	f.Add([]byte{0x1a, 0, 1, 2, 3, 0x3f, 0x70, 0x41, 0xff, 8, 0, 0})
	f.Add([]byte{0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		history := historyFrom(data)
		before := adk.DeepCopy(history)
		req := asked([]fixed{takes("weather", ""), takes("mail", "")}, []fixed{takes("read", "")}, history...)
		b := bridgeOf(req)
		sent := b.request(req)
		if diff := cmp.Diff(before, req.Contents); diff != "" {
			t.Fatalf("the caller's contents changed\n%s", diff)
		}
		if problems := requests.Pairs(sent.Contents); len(problems) > 0 {
			t.Fatalf("pairs are broken: %q", problems)
		}
		again := *req
		again.Contents = sent.Contents
		if b.request(&again) != &again {
			t.Fatal("a translated request is translated again")
		}
		for i, content := range sent.Contents {
			if len(content.Parts) != len(history[i].Parts) || content.Role != history[i].Role {
				t.Fatalf("content %d has another shape", i)
			}
			for j, part := range content.Parts {
				real := history[i].Parts[j]
				if part.FunctionCall != nil && (!reflect.DeepEqual(part.ThoughtSignature, real.ThoughtSignature) || part.FunctionCall.ID != real.FunctionCall.ID) {
					t.Fatalf("content %d: the signature or the ID of part %d is lost", i, j)
				}
				if real.FunctionCall == nil || real.FunctionCall.Name != "weather" && real.FunctionCall.Name != "mail" {
					continue
				}
				var known calls
				back := b.response(&model.LLMResponse{Content: content}, &known)
				if diff := cmp.Diff(real, back.Content.Parts[j]); diff != "" {
					t.Fatalf("content %d comes back different\n%s", i, diff)
				}
			}
		}
	})
}

func FuzzArguments(f *testing.F) {
	for _, args := range []string{`{"city":"Rome"}`, `{"name":"odd","arguments":{"city":5}}`, `{"name":"odd","arguments":"{}"}`, `{"name":"odd","days":"1"}`} {
		f.Add(weatherSchema, args)
		f.Add(eventSchema, args)
	}
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}}`, `{"name":"odd"}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		var given map[string]any
		if json.Unmarshal([]byte(args), &given) != nil || !json.Valid([]byte(schema)) {
			return
		}
		before := adk.DeepCopy(given)
		c := newCallTool(nil, map[string]any{"odd": takes("odd", schema)})
		got, wrong := c.resolve(given)
		again, stillWrong := c.resolve(given)
		// Which of several faults the library names first is left to it.
		if !reflect.DeepEqual(got, again) || (wrong == nil) != (stillWrong == nil) {
			t.Fatalf("two answers: %v %v, %v %v", got, again, wrong, stillWrong)
		}
		if !reflect.DeepEqual(before, given) {
			t.Fatal("the model's arguments changed")
		}
		if wrong == nil && validate(got.schema, got.args) != nil {
			t.Fatalf("the arguments %v do not fit", got.args)
		}
		if response, err := c.Run(nil, given); err != nil || response["error"] == "" {
			t.Fatalf("%v, %v", response, err)
		}
	})
}
