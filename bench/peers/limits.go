package main

import (
	"fmt"
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// The limits of other agents on one tool result, as policies. They are applied to every text of every
// result, and nothing else of these agents is: each also compacts, in its own way.
const (
	// gemini-cli: truncateToolOutputThreshold is 40,000 characters: the first fifth and the
	// last four fifths stay. The whole goes into a file.
	geminiChars, geminiHead = 40_000, 8_000
	// codex: MODEL_FORMAT_MAX_BYTES and MODEL_FORMAT_MAX_LINES, half of both at each end. The rest is
	// gone.
	codexBytes, codexLines = 10 * 1024, 256
	// deepagents: tool_token_limit_before_evict is 20,000 tokens of 4 characters. The whole goes into a
	// file, and 5 lines of each end stay, 1,000 characters of each.
	deepChars, deepLines, deepLine = 20_000 * 4, 5, 1_000
)

// limiting is a callback that shortens each text of each tool result. file names the file with the
// whole result.
func limiting(shorten func(text, file string) string) func(session.Service, *oracle, int) (app, error) {
	return func(base session.Service, _ *oracle, _ int) (app, error) {
		p, err := beforeModel("limits", func(req *model.LLMRequest) {
			eachResponse(req, func(_ string, response map[string]any) map[string]any {
				file := ""
				var shorter map[string]any
				for key, value := range response {
					text, ok := value.(string)
					if !ok {
						continue
					}
					if file == "" && len(text) > codexBytes/4 { // no limit is lower
						file = fmt.Sprintf("/tool-results/%s.txt", store.ResultOf(response).Ref)
					}
					short := shorten(text, file)
					if short == text {
						continue
					}
					if shorter == nil {
						shorter = map[string]any{}
						for k, v := range response {
							shorter[k] = v
						}
					}
					shorter[key] = short
				}
				return shorter
			})
		})
		return app{service: base, plugins: []*plugin.Plugin{p}}, err
	}
}

// beforeModel is a plugin that changes each request.
func beforeModel(name string, change func(req *model.LLMRequest)) (*plugin.Plugin, error) {
	return plugin.New(plugin.Config{
		Name: name,
		BeforeModelCallback: func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
			change(req)
			return nil, nil
		},
	})
}

// eachResponse replaces each response of a request for which change does not return nil.
func eachResponse(req *model.LLMRequest, change func(tool string, response map[string]any) map[string]any) {
	for _, c := range req.Contents {
		for _, part := range c.Parts {
			if r := part.FunctionResponse; r != nil {
				if changed := change(r.Name, r.Response); changed != nil {
					r.Response = changed
				}
			}
		}
	}
}

// likeGemini shortens a text as gemini-cli does.
func likeGemini(text, file string) string {
	runes := []rune(text)
	if len(runes) <= geminiChars {
		return text
	}
	tail := geminiChars - geminiHead
	return fmt.Sprintf("Output too large. Showing first %d and last %d characters. For full output see: %s\n%s\n\n... [%d characters omitted] ...\n\n%s",
		geminiHead, tail, file, string(runes[:geminiHead]), len(runes)-geminiChars, string(runes[len(runes)-tail:]))
}

// likeCodex shortens a text as codex does.
func likeCodex(text, _ string) string {
	lines := strings.SplitAfter(text, "\n")
	if len(text) <= codexBytes && len(lines) <= codexLines {
		return text
	}
	head, tail, omitted := text, "", 0
	if len(lines) > codexLines {
		head, tail = strings.Join(lines[:codexLines/2], ""), strings.Join(lines[len(lines)-codexLines/2:], "")
		omitted = len(lines) - codexLines
	}
	if tail == "" {
		head, tail = text[:len(text)/2], text[len(text)/2:]
	}
	marker := fmt.Sprintf("\n[... omitted %d of %d lines ...]\n\n", omitted, len(lines))
	head = head[:min(len(head), codexBytes/2)]
	tail = tail[max(0, len(tail)-(codexBytes-len(head)-len(marker))):]
	return strings.ToValidUTF8(head, "") + marker + strings.ToValidUTF8(tail, "")
}

// likeDeepAgents shortens a text as deepagents does.
func likeDeepAgents(text, file string) string {
	if len([]rune(text)) <= deepChars {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		runes := []rune(line)
		lines[i] = string(runes[:min(len(runes), deepLine)])
	}
	sample := strings.Join(lines, "\n")
	if len(lines) > 2*deepLines {
		sample = strings.Join(lines[:deepLines], "\n") + fmt.Sprintf("\n... [%d lines truncated] ...\n", len(lines)-2*deepLines) +
			strings.Join(lines[len(lines)-deepLines:], "\n")
	}
	return fmt.Sprintf("Tool result too large, the result of this tool call was saved in the filesystem at this path: %s\n\n"+
		"You can read the result from the filesystem by using the read_file tool, but make sure to only read part of the result at a time.\n\n%s\n", file, sample)
}
