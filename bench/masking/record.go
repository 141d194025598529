package main

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// recorded is a conversation as the model received it: the contents of each request. Contents that are
// equal are one and the same.
type recorded struct {
	id       string
	requests [][]*content
}

// content is a content of one or more requests.
type content struct {
	*genai.Content
	size int // in tokens
	// masked has the sizes of the content with some of its results masked, by a bit for each part.
	masked map[uint64]int
}

// overhead is what each content costs beyond its parts.
const overhead = 4

// recordAll plays the conversations without shortening them.
func recordAll(ctx context.Context, conversations []*conversation.Conversation) ([]*recorded, error) {
	var all []*recorded
	for _, c := range conversations {
		r := &recorded{id: c.ID}
		known := map[string]*content{}
		var failed error
		played, err := replay.App{
			Service: session.InMemoryService(),
			Ref:     compaction.SessionRef{AppName: "masking", UserID: "user", SessionID: c.ID},
			Request: func(_, _ int, req *model.LLMRequest) int {
				request := make([]*content, len(req.Contents))
				for i, sent := range req.Contents {
					data, err := json.Marshal(sent)
					if err != nil {
						failed = err
						return 0
					}
					if known[string(data)] == nil {
						known[string(data)] = &content{Content: sent, size: tokens.OfContent(sent) + overhead, masked: map[uint64]int{}}
					}
					request[i] = known[string(data)]
				}
				r.requests = append(r.requests, request)
				return 0
			},
		}.Run(ctx, c)
		if err == nil {
			err = failed
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.ID, err)
		}
		if played.Calls != len(r.requests) || played.Calls == 0 {
			return nil, fmt.Errorf("%s: %d calls, and %d requests: nothing can be compared", c.ID, played.Calls, len(r.requests))
		}
		all = append(all, r)
	}
	return all, nil
}
