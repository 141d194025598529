package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

type (
	completion struct {
		Model   string          `json:"model"`
		Choices []choice        `json:"choices"`
		Usage   *usage          `json:"usage"`
		Error   json.RawMessage `json:"error"` // some servers send it with status 200
	}
	choice struct {
		Message      reply  `json:"message"` // of a whole response
		Delta        reply  `json:"delta"`   // of a streamed part
		FinishReason string `json:"finish_reason"`
	}
	reply struct {
		Content wording `json:"content"`
		Refusal string  `json:"refusal"`
		// The thoughts of a model have two names: reasoning_content with DeepSeek, llama.cpp and LM Studio, reasoning
		// with Ollama, OpenRouter and newer versions of vLLM. If a server sends both, they say the same.
		ReasoningContent string          `json:"reasoning_content"`
		Reasoning        json.RawMessage `json:"reasoning"` // others may put something else there than a text
		ToolCalls        []toolCall      `json:"tool_calls"`
	}
	usage struct {
		PromptTokens        count `json:"prompt_tokens"`
		CompletionTokens    count `json:"completion_tokens"`
		PromptTokensDetails struct {
			CachedTokens count `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionTokensDetails struct {
			ReasoningTokens count `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
)

// total is how much a report says was used.
func (u *usage) total() int64 { return int64(u.PromptTokens) + int64(u.CompletionTokens) }

// wording is a text, which some servers write as a list of parts.
type wording string

// UnmarshalJSON takes both forms.
func (w *wording) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, (*string)(w))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for _, p := range parts {
		text.WriteString(p.Text)
	}
	*w = wording(text.String())
	return nil
}

// count is a number of tokens. What cannot be one counts as 0: a wrong count is no reason to lose an answer.
type count int32

// UnmarshalJSON never fails.
func (c *count) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseFloat(string(data), 64)
	if err != nil {
		n = 0
	}
	*c = count(min(max(0, n), math.MaxInt32))
	return nil
}

// largestResponse bounds a response in bytes, whether it comes whole or in parts.
const largestResponse = 64 << 20

// decodeWhole reads a response that is not streamed.
func decodeWhole(r io.Reader) (*model.LLMResponse, error) {
	text, err := io.ReadAll(io.LimitReader(r, largestResponse))
	if err != nil {
		return nil, fmt.Errorf("the answer of the server was cut off: %w", err)
	}
	var c completion
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("the answer of the server is not the JSON of a completion: %s", messageOf(string(text)))
	}
	if err := c.failure(); err != nil {
		return nil, err
	}
	if len(c.Choices) == 0 {
		return nil, errors.New("the answer of the server has no choices")
	}
	w := whole{model: c.Model, usage: c.Usage, finish: c.Choices[0].FinishReason}
	w.add(c.Choices[0].Message)
	return w.response(), nil
}

// failure is an error in the place of a response.
func (c *completion) failure() error {
	if len(c.Error) == 0 || string(c.Error) == "null" {
		return nil
	}
	return &Error{Status: 200, Message: messageOf(`{"error":` + string(c.Error) + `}`)}
}

// streams reports whether a body without the type of a stream is one all the same.
func streams(body *bufio.Reader) bool {
	for {
		begin, err := body.Peek(1)
		if err != nil || begin[0] != '\n' && begin[0] != '\r' {
			break
		}
		_, _ = body.Discard(1) // an empty line says nothing, in a stream and before JSON
	}
	for _, field := range []string{":", "data:", "event:"} {
		if begin, _ := body.Peek(len(field)); string(begin) == field {
			return true
		}
	}
	return false
}

// decodeStream reads the parts of a streamed response, each as it comes, and then yields the whole.
func decodeStream(r io.Reader) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		var w whole
		all := &io.LimitedReader{R: r, N: largestResponse}
		lines := bufio.NewScanner(all)
		lines.Buffer(make([]byte, 64<<10), largestResponse)
		ended := false
		for !ended && lines.Scan() {
			data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
			if !ok {
				continue // an empty line, a comment, or a field without meaning here
			}
			data = bytes.TrimSpace(data)
			if string(data) == "[DONE]" {
				ended = true
				break
			}
			var c completion
			if err := json.Unmarshal(data, &c); err != nil {
				if all.N <= 0 {
					break // cut at the bound
				}
				what := "is no JSON"
				if json.Valid(data) {
					what = "is not of OpenAI's protocol"
				}
				yield(nil, fmt.Errorf("a part of the stream %s: %.200q", what, data))
				return
			}
			if err := c.failure(); err != nil {
				yield(nil, err)
				return
			}
			parts := w.merge(&c)
			if len(parts) == 0 {
				continue
			}
			if !yield(&model.LLMResponse{Content: genai.NewContentFromParts(parts, genai.RoleModel), Partial: true}, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case all.N <= 0 && !ended:
			yield(nil, fmt.Errorf("the stream of the server is longer than %d MiB, and was left", largestResponse>>20))
		case err != nil:
			yield(nil, fmt.Errorf("the stream of the server was cut off: %w", err))
		case !ended && w.finish == "":
			yield(nil, errors.New("the stream of the server was cut off: it ended without a reason"))
		default:
			yield(w.response(), nil)
		}
	}
}

// whole is a response as far as it has come.
type whole struct {
	model         string
	thought, text strings.Builder
	calls         []*callParts
	byIndex       map[int]*callParts     // the newest call of an index
	byID          map[callKey]*callParts // the call of an index and an ID
	usage         *usage
	finish        string
}

// callParts is a call as far as it has come.
type callParts struct {
	id, name  string
	arguments strings.Builder
}

type callKey struct {
	index int
	id    string
}

// merge takes a streamed part in, and returns its texts.
func (w *whole) merge(c *completion) []*genai.Part {
	if c.Model != "" {
		w.model = c.Model
	}
	if c.Usage != nil && (w.usage == nil || c.Usage.total() >= w.usage.total()) {
		w.usage = c.Usage // a server may end with a report of zeros
	}
	if len(c.Choices) == 0 {
		return nil
	}
	first := c.Choices[0]
	if first.FinishReason != "" {
		w.finish = first.FinishReason
	}
	return w.add(first.Delta)
}

// add takes a reply in, and returns its texts: what the model thought, and what it says.
func (w *whole) add(r reply) []*genai.Part {
	thought, text := r.thought(), string(r.Content)+r.Refusal
	w.thought.WriteString(thought)
	w.text.WriteString(text)
	for _, part := range r.ToolCalls {
		call := w.call(part)
		if call.name == "" {
			call.name = part.Function.Name
		}
		call.arguments.WriteString(string(part.Function.Arguments))
	}
	return texts(thought, text)
}

// call returns the call that a part belongs to: the newest of its index, unless the part names another by its ID.
func (w *whole) call(part toolCall) *callParts {
	key := callKey{part.Index, part.ID}
	known := w.byID[key]
	if part.ID == "" {
		known = w.byIndex[part.Index]
	}
	if known == nil {
		known = &callParts{id: part.ID}
		w.calls = append(w.calls, known)
		if w.byID == nil {
			w.byID, w.byIndex = map[callKey]*callParts{}, map[int]*callParts{}
		}
		w.byID[key] = known
	}
	w.byIndex[part.Index] = known
	return known
}

// thought is what the model thought.
func (r *reply) thought() string {
	if r.ReasoningContent != "" {
		return r.ReasoningContent
	}
	var text string
	_ = json.Unmarshal(r.Reasoning, &text) // what is no text is no thought
	return text
}

// texts are the parts of a thought and of what is said, each if there is any.
func texts(thought, said string) (parts []*genai.Part) {
	if thought != "" {
		parts = append(parts, &genai.Part{Text: thought, Thought: true})
	}
	if said != "" {
		parts = append(parts, genai.NewPartFromText(said))
	}
	return parts
}

// response is the whole as ADK takes it.
func (w *whole) response() *model.LLMResponse {
	content := &genai.Content{Role: genai.RoleModel, Parts: texts(w.thought.String(), w.text.String())}
	for _, call := range w.calls {
		part := genai.NewPartFromFunctionCall(call.name, argsOf(call.arguments.String()))
		part.FunctionCall.ID = call.id
		content.Parts = append(content.Parts, part)
	}
	resp := &model.LLMResponse{Content: content, ModelVersion: w.model, FinishReason: finishOf(w.finish), TurnComplete: true, UsageMetadata: w.usage.metadata()}
	if w.text.Len() == 0 && len(w.calls) == 0 {
		what := "nothing"
		if w.thought.Len() > 0 {
			what = "thoughts only"
		}
		resp.Content = nil
		resp.ErrorCode, resp.ErrorMessage = "EMPTY", fmt.Sprintf("the server answered with %s (finish reason %q)", what, w.finish)
	}
	return resp
}

// argsOf reads the arguments of a call. Models write broken JSON now and then: the tool then gets it as a text and
// refuses it, which the model can read.
func argsOf(text string) map[string]any {
	if strings.TrimSpace(text) == "" {
		return map[string]any{}
	}
	args := map[string]any{}
	if err := json.Unmarshal([]byte(text), &args); err != nil || args == nil {
		return map[string]any{"malformed_arguments": text}
	}
	return args
}

func finishOf(reason string) genai.FinishReason {
	switch reason {
	case "length":
		return genai.FinishReasonMaxTokens
	case "content_filter":
		return genai.FinishReasonSafety
	case "":
		return genai.FinishReasonUnspecified
	}
	return genai.FinishReasonStop
}

// metadata counts as ADK does: thoughts apart from the answer, and cached tokens as part of the prompt.
func (u *usage) metadata() *genai.GenerateContentResponseUsageMetadata {
	if u == nil || (u.PromptTokens == 0 && u.CompletionTokens == 0) {
		return nil
	}
	thoughts := min(u.CompletionTokensDetails.ReasoningTokens, u.CompletionTokens)
	total := min(int64(u.PromptTokens)+int64(u.CompletionTokens), math.MaxInt32)
	return &genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount: int32(u.PromptTokens), CachedContentTokenCount: int32(min(u.PromptTokensDetails.CachedTokens, u.PromptTokens)),
		CandidatesTokenCount: int32(u.CompletionTokens - thoughts), ThoughtsTokenCount: int32(thoughts), TotalTokenCount: int32(total),
	}
}
