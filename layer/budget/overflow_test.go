package budget

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genai"
)

// withField is an error as the clients of OpenAI and Anthropic return it.
type withField struct {
	StatusCode int
	text       string
}

func (e *withField) Error() string { return e.text }

// withMethod is an error as the AWS SDK returns it.
type withMethod struct {
	status int
	text   string
}

func (e withMethod) Error() string       { return e.text }
func (e withMethod) HTTPStatusCode() int { return e.status }

func apiError(code int, text string) error {
	return fmt.Errorf("failed to call model: %w", genai.APIError{Code: code, Message: text, Status: http.StatusText(code)})
}

// overflows are errors as services send them.
var overflows = []struct {
	service, text        string
	limit, prompt, reply int
}{
	{"Gemini", "The input token count (1048600) exceeds the maximum number of tokens allowed (1048576).", 1_048_576, 1_048_600, 0},
	{"Gemini, without a count", "The input token count exceeds the maximum number of tokens allowed 1048576.", 1_048_576, 0, 0},
	{"Vertex AI", "Unable to submit request because the input token count is 1100000 but model only supports up to 1048576. Reduce the input token count and try again.", 1_048_576, 1_100_000, 0},
	{"Anthropic", "prompt is too long: 210000 tokens > 200000 maximum", 200_000, 210_000, 0},
	{"Anthropic, with the reply", "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, decrease input length or `max_tokens` and try again", 200_000, 195_000, 8192},
	{"Amazon Bedrock", "ValidationException: Input is too long for requested model.", 0, 0, 0},
	{"OpenAI", "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.", 128_000, 130_000, 0},
	{"OpenAI, with tools", "This model's maximum context length is 128,000 tokens. However, your messages resulted in 130,000 tokens (129,000 in the messages, 1,000 in the functions). Please reduce the length of the messages or functions.", 128_000, 130_000, 0},
	{"OpenAI, with the reply", "This model's maximum context length is 4097 tokens. However, you requested 4200 tokens (3200 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.", 4097, 3200, 1000},
	{"OpenAI, completions", "This model's maximum context length is 4097 tokens, however you requested 4200 tokens (3200 in your prompt; 1000 for the completion). Please reduce your prompt; or completion length.", 4097, 3200, 1000},
	{"OpenAI, Responses API", `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","code":"context_length_exceeded"}}`, 0, 0, 0},
	{"OpenAI, code only", `{"error":{"code":"context_length_exceeded"}}`, 0, 0, 0},
	{"a service with OpenAI's API", "The request exceeds the model's context window.", 0, 0, 0},
	{"vLLM", "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 1024 input tokens (8192 > 8192 - 1024).", 8192, 1024, 8192},
	{"OpenRouter", "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (135000 of text input, 5000 in the output). Please reduce the length of either one, or use the \"middle-out\" transform.", 131_072, 135_000, 5000},
	{"DeepSeek", "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.", 65_536, 66_000, 4000},
	{"Mistral", "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32_768, 40_000, 0},
	{"Fireworks", "The prompt is too long: 40000, model maximum context length: 32767", 32_767, 40_000, 0},
	{"llama.cpp", "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4096, 5000, 0},
	{"llama.cpp, earlier", "the request exceeds the available context size. try increasing the context size or enable context shift", 0, 0, 0},
	{"LM Studio", "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input", 0, 0, 0},
	{"LM Studio, with numbers", "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input", 4096, 5000, 0},
	{"xAI", "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131_072, 140_000, 0},
	{"Groq", "Please reduce the length of the messages or completion.", 0, 0, 0},
	{"Cerebras", "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", 8192, 9000, 0},
	{"MiniMax", "invalid params, context window exceeds limit (2013)", 0, 0, 0},
	{"Kimi", "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)", 131_072, 140_000, 0},
	{"Hugging Face TGI", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 500 `max_new_tokens`", 4097, 5000, 500},
	{"Ollama", "prompt too long; exceeded max context length by 500 tokens", 0, 0, 0},
	{"Cohere", "too many tokens: size limit exceeded by 1000 tokens. Try using shorter or fewer inputs.", 0, 0, 0},
	{"general", "Token limit exceeded.", 0, 0, 0},
	{"general, of the window", "Context length exceeded", 0, 0, 0},
}

func TestEveryServicesOverflowIsRecognized(t *testing.T) {
	t.Parallel()
	for _, r := range overflows {
		for _, form := range []struct {
			name string
			err  error
		}{
			{"by value", apiError(http.StatusBadRequest, r.text)},
			{"by pointer", fmt.Errorf("call: %w", &genai.APIError{Code: http.StatusBadRequest, Message: r.text})},
			{"with a field", fmt.Errorf("call: %w", &withField{http.StatusBadRequest, r.text})},
			{"with a method", errors.Join(errors.New("call"), withMethod{http.StatusBadRequest, r.text})},
			{"text only", errors.New(r.text)},
			{"upper case", errors.New(strings.ToUpper(r.text))},
			{"with the status in the text", errors.New("POST \"https://host/v1/chat\": 400 Bad Request " + r.text)},
		} {
			if !IsOverflow(form.err) {
				t.Errorf("%s, %s: no overflow: %v", r.service, form.name, form.err)
			}
		}
		if got, want := readRefusal(apiError(http.StatusBadRequest, r.text).Error()), (refusal{r.limit, r.prompt, r.reply}); got != want {
			t.Errorf("%s: numbers are %+v, want %+v", r.service, got, want)
		}
	}
}

func TestOtherRefusalsAreNoOverflows(t *testing.T) {
	t.Parallel()
	tooLong := overflows[0].text
	for _, r := range []struct {
		name string
		err  error
	}{
		{"none", nil},
		{"the context of the call", fmt.Errorf("%s: %w", tooLong, context.DeadlineExceeded)},
		{"canceled", fmt.Errorf("%s: %w", tooLong, context.Canceled)},
		{"status 429", apiError(429, tooLong)},
		{"status 413", apiError(413, tooLong)},
		{"status 500", apiError(500, tooLong)},
		{"status 503", &withField{503, tooLong}},
		{"status 429 of a method", withMethod{429, tooLong}},
		{"status 413 in the text", errors.New("413 Request Entity Too Large: " + tooLong)},
		{"status 429 in the text", errors.New("status code: 429: " + tooLong)},
		{"status 529 in the text", errors.New("error, status code: 529, message: " + tooLong)},
		{"Gemini's quota", apiError(429, "Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_input_token_count, limit: 250000. Please retry in 33s.")},
		{"Gemini's quota without a status", errors.New("You exceeded your current quota: generate_content_free_tier_input_token_count")},
		{"Vertex AI's quota", errors.New("Resource exhausted. Please try again later.")},
		{"OpenAI's rate", errors.New("Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again in 8s.")},
		{"OpenAI's rate, one request", errors.New("Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.")},
		{"Groq's rate", apiError(413, "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.")},
		{"tokens per day", errors.New("Too many tokens per day, please wait before trying again.")},
		{"Bedrock's throttle", errors.New("ThrottlingException: Too many tokens, please wait before trying again.")},
		{"Bedrock's throttle without its name", errors.New("Too many tokens, please wait before trying again.")},
		{"tokens processed", errors.New("Too many tokens have been processed in this session")},
		{"Anthropic's rate", errors.New("This request would exceed your organization's rate limit of 40,000 input tokens per minute. prompt is too long")},
		{"Anthropic's body", errors.New(`413 {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`)},
		{"overloaded", errors.New("overloaded_error: Overloaded; maximum context length")},
		{"Gemini's body", apiError(400, "Request payload size exceeds the limit: 20971520 bytes.")},
		{"an image", apiError(400, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes")},
		{"images", apiError(400, "At least one of the image dimensions exceed max allowed size: 8000 pixels")},
		{"a PDF", apiError(400, "A maximum of 100 PDF pages may be provided.")},
		{"one argument", apiError(400, "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got a string with length 11000000 instead.")},
		{"one argument, by code", apiError(400, `{"message":"Invalid 'input'","code":"string_above_max_length"}`)},
		{"too many tools", apiError(400, "Invalid 'tools': array too long. Expected an array with maximum length 128, but got 200.")},
		{"a bad request", apiError(400, "Please ensure that function response turn comes immediately after a function call turn.")},
		{"MAX_TOKENS", errors.New("finish reason MAX_TOKENS")},
		{"a missing model", apiError(404, "models/gemini-x is not found; see the maximum context length")},
		{"no key", apiError(401, tooLong)},
	} {
		if IsOverflow(r.err) {
			t.Errorf("%s: taken for an overflow: %v", r.name, r.err)
		}
	}
}

func TestWrongNumbersInARefusalAreIgnored(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"prompt is too long: 100 tokens > 200000 maximum", // not longer
		"prompt is too long: 9 tokens > 7 maximum",        // no window
		"prompt is too long: 99999999999999999999 tokens > 99999999999999999998 maximum",
		"maximum context length is 0 tokens",
		"",
	} {
		if got := readRefusal(text); got != (refusal{}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestOnlyTheReplyIsTooLong(t *testing.T) {
	t.Parallel()
	want := map[string]bool{"Anthropic, with the reply": true, "OpenAI, with the reply": true, "OpenAI, completions": true, "vLLM": true}
	for _, r := range overflows {
		if got := (refusal{r.limit, r.prompt, r.reply}).onlyReply(); got != want[r.service] {
			t.Errorf("%s: only the reply is too long: %v", r.service, got)
		}
	}
}

func TestAnOverflowErrorKeepsTheProvidersError(t *testing.T) {
	t.Parallel()
	provider := apiError(400, overflows[0].text)
	err := fmt.Errorf("turn: %w", &OverflowError{
		Model: "gemini-2.5-flash", Tokens: 1_048_600, Window: 1_048_576, Reply: 8192, Sent: true, Err: provider,
		Largest: []Large{{What: toolResult, Content: 7, Name: "shell", Tokens: 900_000}},
	})
	var api genai.APIError
	if !errors.Is(err, ErrContextOverflow) || !errors.As(err, &api) || api.Code != 400 || !IsOverflow(err) {
		t.Errorf("the error is not found in %v", err)
	}
	for _, part := range []string{"1,048,600 tokens", "gemini-2.5-flash", "1,048,576", "8,192", `tool result of "shell" (content 7)`, "900,000", "PerTool", "The input token count"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing from %q", part, err)
		}
	}
	if unsent := (&OverflowError{Tokens: 9000}); !strings.Contains(unsent.Error(), "not sent") || !errors.Is(unsent, ErrContextOverflow) {
		t.Errorf("unsent: %v", unsent)
	}
}

// A provider that refuses what fits by our own numbers counts otherwise, or has a smaller window. The error says so: its
// numbers alone would contradict each other.
func TestARefusalOfWhatFitsByEstimateSaysSo(t *testing.T) {
	t.Parallel()
	provider := apiError(400, "prompt is too long")
	for name, row := range map[string]struct {
		err  OverflowError
		says bool
	}{
		"fits":                            {OverflowError{Tokens: 15_517, Window: 20_000, Reply: 2_000, Sent: true, Err: provider}, true},
		"fits beside no reply":            {OverflowError{Tokens: 20_000, Window: 20_000, Sent: true, Err: provider}, true},
		"fits, but for the reply":         {OverflowError{Tokens: 18_001, Window: 20_000, Reply: 2_000, Sent: true, Err: provider}, false},
		"does not fit":                    {OverflowError{Tokens: 20_001, Window: 20_000, Sent: true, Err: provider}, false},
		"was not sent":                    {OverflowError{Tokens: 15_517, Window: 20_000, Reply: 2_000}, false},
		"into a window that nobody knows": {OverflowError{Tokens: 15_517, Sent: true, Err: provider}, false},
	} {
		text := row.err.Error()
		if says := strings.Contains(text, "counts more than is estimated, or its window is smaller") && strings.Contains(text, "ContextWindow"); says != row.says {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func FuzzRefusalsAreReadWithoutPanic(f *testing.F) {
	for _, r := range overflows {
		f.Add(r.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := readRefusal(text)
		if r.limit < 0 || r.prompt < 0 || r.reply < 0 || r.limit == 0 && r != (refusal{}) {
			t.Errorf("%q: %+v", text, r)
		}
		_ = IsOverflow(errors.New(text))
	})
}
