package budget

import "regexp"

// The texts by which services report a prompt that is too long. They are matched in lower case.
// Each was read in an error of the service that is named behind it.
var overflowTexts = []string{
	"exceeds the maximum number of tokens",            // Gemini
	"input token count",                               // Gemini, Vertex AI
	"prompt is too long",                              // Anthropic, Fireworks
	"exceed context limit",                            // Anthropic: prompt and max_tokens together
	"context_length_exceeded",                         // OpenAI and services with its API
	"maximum context length",                          // OpenAI, vLLM, OpenRouter, Mistral, DeepSeek
	"exceeds the context window",                      // OpenAI, Responses API
	"exceeds the model's context window",              // OpenAI and services with its API
	"exceeds this model's context window",             // OpenAI and services with its API
	"exceeds your model's context window",             // OpenAI and services with its API
	"input is too long for requested model",           // Amazon Bedrock
	"exceeds the available context size",              // llama.cpp
	"greater than the context length",                 // LM Studio
	"loaded with context length of only",              // LM Studio
	"maximum prompt length is",                        // xAI
	"reduce the length of the messages",               // Groq, Cerebras
	"context window exceeds limit",                    // MiniMax
	"exceeded model token limit",                      // Kimi
	"tokens + `max_new_tokens` must be <=",            // Hugging Face TGI
	"the input length exceeds the context length",     // Ollama
	"prompt too long; exceeded max context length by", // Ollama
}

// General texts mean a prompt that is too long, unless the error also has one of the doubtful texts.
var generalOverflowTexts = []string{
	"token limit exceeded",
	"context length exceeded",
	"context window exceeded",
	"too many tokens",
}

// An error with one of these texts is no overflow, whatever else it contains: it is about a rate, a quota,
// an overloaded server, a file, or one argument. A shorter prompt does not help against any of them.
var otherLimits = []string{
	"per minute", "per hour", "per day", "per second", "tokens per", "(tpm)", "(rpm)", "(tpd)",
	"quota", "rate limit", "rate_limit", "ratelimit", "throttl", "too many requests",
	"overloaded", "resource_exhausted", "resource exhausted",
	"string too long", "string_above_max_length",
	"payload size", "request_too_large", "request entity too large", "payload too large", "content too large",
	"image exceeds", "image dimensions", "images exceed", "too many images", "pdf pages", "file size", "video length",
	"attachment",
}

// Doubtful texts leave a general text without meaning: "too many tokens, please wait before trying
// again" is a rate.
var doubtfulTexts = []string{"retry", "wait", "processed", "try again later"}

// limitPattern finds the numbers in the text of an overflow. The groups are named limit, prompt and
// reply; each may be absent.
type limitPattern struct{ text *regexp.Regexp }

// limitPatterns are tried in order, so patterns with more numbers are first. The text is in lower case
// and has no commas in numbers.
var limitPatterns = []limitPattern{
	// OpenAI, DeepSeek, vLLM: "maximum context length is 4097 tokens. However, you requested 4200 tokens
	// (3200 in the messages, 1000 in the completion)". OpenRouter: "requested about 140000 tokens
	// (135000 of text input, 5000 in the output)".
	{regexp.MustCompile(`maximum context length is (?P<limit>\d+) tokens.*?requested(?: about)? \d+ tokens \((?P<prompt>\d+) (?:in|of)[^,;)]*[,;] (?P<reply>\d+) (?:in|for) the (?:completion|output)`)},
	// vLLM: "'max_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your
	// request has 1024 input tokens".
	{regexp.MustCompile(`too large: (?P<reply>\d+)\. this model's maximum context length is (?P<limit>\d+) tokens and your request has (?P<prompt>\d+) input tokens`)},
	// OpenAI: "maximum context length is 128000 tokens. However, your messages resulted in 130000
	// tokens", also with "(129000 in the messages, 1000 in the functions)".
	{regexp.MustCompile(`maximum context length is (?P<limit>\d+) tokens.*?resulted in (?P<prompt>\d+) tokens`)},
	// Anthropic: "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000".
	{regexp.MustCompile(`context limit: (?P<prompt>\d+) \+ (?P<reply>\d+) > (?P<limit>\d+)`)},
	// Anthropic: "prompt is too long: 210000 tokens > 200000 maximum".
	{regexp.MustCompile(`prompt is too long: (?P<prompt>\d+) tokens > (?P<limit>\d+) maximum`)},
	// Fireworks: "the prompt is too long: 40000, model maximum context length: 32767".
	{regexp.MustCompile(`prompt is too long: (?P<prompt>\d+),? model maximum context length: (?P<limit>\d+)`)},
	// Gemini: "the input token count (1048600) exceeds the maximum number of tokens allowed (1048576)".
	{regexp.MustCompile(`input token count \(?(?P<prompt>\d+)\)? exceeds the maximum number of tokens allowed \(?(?P<limit>\d+)`)},
	{regexp.MustCompile(`exceeds the maximum number of tokens allowed \(?(?P<limit>\d+)`)},
	// Vertex AI: "the input token count is 1100000 but model only supports up to 1048576".
	{regexp.MustCompile(`input token count is (?P<prompt>\d+) but (?:the )?model only supports up to (?P<limit>\d+)`)},
	// Mistral: "prompt contains 40000 tokens ... too large for model with 32768 maximum context length".
	{regexp.MustCompile(`prompt contains (?P<prompt>\d+) tokens.*?model with (?P<limit>\d+) maximum context length`)},
	// llama.cpp: "request (5000 tokens) exceeds the available context size (4096 tokens)".
	{regexp.MustCompile(`request \((?P<prompt>\d+) tokens\) exceeds the available context size \((?P<limit>\d+) tokens\)`)},
	// LM Studio: "trying to keep the first 5000 tokens ... loaded with context length of only 4096
	// tokens".
	{regexp.MustCompile(`keep the first (?P<prompt>\d+) tokens.*?context length of only (?P<limit>\d+) tokens`)},
	// xAI: "maximum prompt length is 131072 but the request contains 140000 tokens".
	{regexp.MustCompile(`maximum prompt length is (?P<limit>\d+) but the request contains (?P<prompt>\d+) tokens`)},
	// Kimi: "exceeded model token limit: 131072 (requested: 140000)".
	{regexp.MustCompile(`exceeded model token limit: (?P<limit>\d+) \(requested: (?P<prompt>\d+)\)`)},
	// Cerebras: "current length is 9000 while limit is 8192".
	{regexp.MustCompile(`current length is (?P<prompt>\d+) while limit is (?P<limit>\d+)`)},
	// Hugging Face TGI: "must be <= 4097. Given: 5000 `inputs` tokens and 500 `max_new_tokens`".
	{regexp.MustCompile("must be <= (?P<limit>\\d+)\\. given: (?P<prompt>\\d+) `inputs` tokens and (?P<reply>\\d+) `max_new_tokens`")},
	{regexp.MustCompile(`maximum context length is (?P<limit>\d+)`)},
}
