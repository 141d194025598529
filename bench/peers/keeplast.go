package main

import (
	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/genai"
)

// cutting is a callback that keeps the last n contents of every prompt and drops the rest, which is
// the most common first solution.
func cutting(cut func(contents []*genai.Content, n int) []*genai.Content, n int) func(session.Service, *oracle, int) (app, error) {
	return func(base session.Service, _ *oracle, _ int) (app, error) {
		p, err := plugin.New(plugin.Config{
			Name: "keep_last",
			BeforeModelCallback: func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
				req.Contents = cut(req.Contents, n)
				return nil, nil
			},
		})
		return app{service: base, plugins: []*plugin.Plugin{p}}, err
	}
}

// lastContents returns the last n contents.
func lastContents(contents []*genai.Content, n int) []*genai.Content {
	return contents[max(0, len(contents)-n):]
}

// lastWhole returns the last n contents, or fewer, so that no response is without its call.
func lastWhole(contents []*genai.Content, n int) []*genai.Content {
	contents = lastContents(contents, n)
	for len(contents) > 0 && answers(contents[0]) {
		contents = contents[1:]
	}
	return contents
}

func answers(c *genai.Content) bool {
	for _, part := range c.Parts {
		if part.FunctionResponse != nil {
			return true
		}
	}
	return false
}
