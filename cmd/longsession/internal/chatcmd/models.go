package chatcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/openai"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/internal/scripted"
	"github.com/adk-go-ext/longsession/preset"
	"github.com/adk-go-ext/longsession/tokens"
)

// scriptedPrefix comes before the name of a script.
const scriptedPrefix = "scripted:"

// demoModel is the model that needs neither a key nor a network.
const demoModel = scriptedPrefix + "demo"

// defaultOpenAI is where models of OpenAI are, if nothing else is said.
const defaultOpenAI = "https://api.openai.com/v1"

// openAIAddress is the variable in which OpenAI's own programs look for the address of the server.
const openAIAddress = "OPENAI_BASE_URL"

// The variables that have keys. There is no flag for a key: other users of the machine can read the arguments of a process.
var (
	geminiKeys = []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}
	openAIKeys = []string{"LONGSESSION_API_KEY", "OPENAI_API_KEY"}
)

// source opens models by their names.
type source struct {
	baseURL  string        // of a server that speaks OpenAI's protocol; "" for the provider of the name
	named    string        // what has set baseURL; "" for the flag and its key
	flag     string        // that names the model; "" for --model
	patience time.Duration // how long such a server may send nothing; 0 is the default
	env      func(name string) string
}

// first is the first of some variables that has a value.
func (s source) first(names []string) string {
	for _, name := range names {
		if value := s.env(name); value != "" {
			return value
		}
	}
	return ""
}

// haveGemini reports whether a model of Gemini can be called, by a key or by Vertex AI.
func (s source) haveGemini() bool { return s.vertex() || s.first(geminiKeys) != "" }

// vertex reports whether Gemini is called by Vertex AI.
func (s source) vertex() bool {
	yes, _ := strconv.ParseBool(s.env("GOOGLE_GENAI_USE_VERTEXAI"))
	return yes
}

// fallback is the model if no source names one: without any key it is the demo, so that a newcomer can chat at once. It
// is "" where the settings choose one.
func (s source) fallback() string {
	if s.baseURL == "" && !s.haveGemini() {
		return demoModel
	}
	return ""
}

// useOpenAIsAddress takes the address that OpenAI's own programs read, if the settings have none. It is for the models of
// OpenAI and for those that nobody else serves: a person who has it set for another program still reaches Gemini.
func (s *source) useOpenAIsAddress(name string) {
	address := s.env(openAIAddress)
	if s.baseURL != "" || address == "" || isGemini(name) || name == "" && s.haveGemini() {
		return
	}
	s.baseURL, s.named = address, openAIAddress
}

// isGemini reports whether a name is one of Gemini's.
func isGemini(name string) bool {
	return preset.ProviderOf(name) == preset.Gemini || strings.HasPrefix(strings.ToLower(name), "gemini")
}

// free reports whether a model costs nothing, so that a run needs no ceiling: a script, or one on this machine. A model
// with a price is not free there, either: the server may be a proxy.
func (s source) free(name string, prices *tokens.Registry) bool {
	if strings.HasPrefix(name, scriptedPrefix) {
		return true
	}
	if row, _ := prices.Lookup(name); row.Priced() {
		return false
	}
	u, err := url.Parse(s.baseURL)
	if err != nil || s.baseURL == "" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}

// open returns the model of a name.
func (s source) open(ctx context.Context, name string) (model.LLM, error) {
	script, plays := strings.CutPrefix(name, scriptedPrefix)
	switch {
	case plays:
		return openScript(name, script)
	case s.baseURL != "":
		m, err := openai.New(openai.Config{Model: name, BaseURL: s.baseURL, Key: s.first(openAIKeys), Idle: s.patience})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cmp.Or(s.named, "--base-url"), err)
		}
		return m, nil
	}
	flag, shown := s.ofModel(), terminal.Printable(name)
	switch {
	case isGemini(name):
		if !s.haveGemini() {
			return nil, fmt.Errorf("%s is %s, and no key is set: set GEMINI_API_KEY, name another server with --base-url, or use %s scripted:demo without a key", flag, shown, flag)
		}
		return s.openGemini(ctx, name)
	case isOpenAI(name) && s.first(openAIKeys) != "":
		return openai.New(openai.Config{Model: name, BaseURL: defaultOpenAI, Key: s.first(openAIKeys), Idle: s.patience})
	case isOpenAI(name):
		return nil, fmt.Errorf("%s is %s, and no key is set: set OPENAI_API_KEY, or name another server with --base-url", flag, shown)
	}
	return nil, fmt.Errorf("%s is %s, and no server is known for it: name the server with --base-url, such as --base-url http://localhost:11434/v1 for Ollama, or use a model of Gemini", flag, shown)
}

// ofModel is the flag that names the model.
func (s source) ofModel() string { return cmp.Or(s.flag, "--model") }

// openGemini opens a model of Gemini. The library's errors have its whole config, key included, so they are not passed on.
func (s source) openGemini(ctx context.Context, name string) (model.LLM, error) {
	if s.vertex() {
		m, err := s.openVertex(ctx, name)
		if err != nil {
			return nil, errors.New("GOOGLE_GENAI_USE_VERTEXAI is set, and Vertex AI cannot be used: set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, and log in by 'gcloud auth application-default login'")
		}
		return s.explaining(m), nil
	}
	m, err := gemini.NewModel(ctx, name, &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: s.first(geminiKeys), HTTPClient: s.patient(http.DefaultTransport),
	})
	if err != nil {
		return nil, fmt.Errorf("%s is %s, and Gemini's client cannot be made: check GEMINI_API_KEY and the variables of Google's libraries", s.ofModel(), terminal.Printable(name))
	}
	return s.explaining(m), nil
}

// openVertex opens a model at Vertex AI. Google's library logs in only in a client that it makes itself, so it makes one, and the
// model's client goes through that one's transport.
func (s source) openVertex(ctx context.Context, name string) (model.LLM, error) {
	login, err := genai.NewClient(ctx, &genai.ClientConfig{Backend: genai.BackendVertexAI})
	if err != nil {
		return nil, err
	}
	transport := login.ClientConfig().HTTPClient.Transport
	if transport == nil { // no login is needed: there is a key, or another address
		transport = http.DefaultTransport
	}
	return gemini.NewModel(ctx, name, &genai.ClientConfig{Backend: genai.BackendVertexAI, HTTPClient: s.patient(transport)})
}

// patient is a client that ends a request when its server is silent for too long.
func (s source) patient(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: patient{transport, s.idle()}}
}

// isOpenAI reports whether a name is one of OpenAI's.
func isOpenAI(name string) bool {
	return slices.ContainsFunc([]string{"gpt-", "chatgpt-", "o1", "o3", "o4"}, func(start string) bool { return strings.HasPrefix(strings.ToLower(name), start) })
}

func openScript(name, script string) (model.LLM, error) {
	if script == "demo" || script == "" {
		return scripted.Demo(name), nil
	}
	text, err := readScript(script)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: name a script, or use %s", terminal.Printable(name), err, demoModel)
	}
	m, err := scripted.New(name, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", terminal.Printable(name), err)
	}
	return m, nil
}

// maxScript bounds a script in bytes. It is read whole, and one of a thousand long answers is below 10 MB.
const maxScript = 64 << 20

func readScript(path string) ([]byte, error) {
	name := terminal.Printable(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", name)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > maxScript:
		return nil, fmt.Errorf("%s has %s bytes, and a script has at most %s", name, terminal.Commas(info.Size()), terminal.Commas(int64(maxScript)))
	}
	return os.ReadFile(path)
}

// registry knows the windows and prices of models, with what the person says about the agent's. It is nil for the
// built-in table. A row is for all names that contain its own, so small, the model of agentic tools, may need one to
// keep what is known of it: "" where none is known yet.
//
// A script costs nothing. So that there is something to see, it is charged as gemini-2.5-flash, in a small window.
func registry(name, small string, window int, price tokens.Model) (*tokens.Registry, error) {
	row, _ := tokens.Lookup(name)
	plays := strings.HasPrefix(name, scriptedPrefix)
	if plays {
		row, _ = tokens.Lookup("gemini-2.5-flash")
		row.ContextWindow, row.MaxOutputTokens, row.Tier = 32_000, 4_000, tokens.TierMid
	}
	if !plays && window == 0 && !price.Priced() || name == "" {
		return nil, nil
	}
	row.Name = strings.ToLower(name)
	if window > 0 {
		row.ContextWindow = window
		row.MaxOutputTokens = min(row.MaxOutputTokens, window/4)
	}
	if price.Priced() {
		row.InputPrice, row.CachedInputPrice, row.OutputPrice = price.InputPrice, price.CachedInputPrice, price.OutputPrice
	}
	rows := []tokens.Model{row}
	if own := strings.ToLower(small); own != row.Name && strings.Contains(own, row.Name) {
		known, _ := tokens.Lookup(own)
		known.Name = own
		rows = append(rows, known)
	}
	return tokens.NewRegistry(rows...)
}
