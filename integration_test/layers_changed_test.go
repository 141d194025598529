package integration_test

import (
	"maps"
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// A callback of the app may change results, for example to leave out what is private. The model reads such a
// result back as it has seen it.
func TestResultsThatACallbackChangesAreReadBackAsTheModelSawThem(t *testing.T) {
	t.Parallel()
	a := newToolApp(t, inMemory(t), single, func(a *toolApp) {
		a.cfg.Masking = toolresult.Masking{KeepFirst: toolresult.Off, KeepLast: 1, BatchTokens: toolresult.Off, From: toolresult.Off}
		a.more = func(cfg *llmagent.Config) {
			cfg.BeforeModelCallbacks = append(cfg.BeforeModelCallbacks, func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
				for _, content := range req.Contents {
					for _, response := range requests.Responses(content) {
						if response.Name != "dump" || response.Response["ref_id"] != nil {
							continue
						}
						response.Response = maps.Clone(response.Response)
						response.Response["output"] = strings.Repeat("redacted ", 60)
						a.seen.returned(response.Response)
					}
				}
				return nil, nil
			})
		}
	})
	a.play(6)
	a.reopen()
	a.play(3)
	changed := 0
	a.readAll()
	for _, content := range a.seen.read {
		if strings.Contains(content, "redacted") {
			changed++
		}
	}
	if changed == 0 {
		t.Error("no changed result was masked: the test shows nothing")
	}
}
