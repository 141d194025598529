package toolresult

import (
	"context"
	"fmt"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// RequestConfig configures [RequestPlugin].
type RequestConfig struct {
	// ReadResult is the tool that is offered where there may be something to read. Required.
	ReadResult tool.Tool
	// Masker masks old results in requests that can offer ReadResult. If nil, nothing is masked.
	Masker *Masker
	// Room returns the size of a request for the Masker. If nil, Masking.From has no effect. A panic
	// in it means the same.
	Room func(agent.CallbackContext, *model.LLMRequest) Room
	// Put stores a result before it is masked. If nil, ReadResult can read every result without that.
	Put func(ctx context.Context, owner store.Owner, tool string, result store.Result) error
}

// RequestPlugin returns a plugin that puts read_result into requests and masks old results, and nothing else.
// The tool is in each request of an agent that has tools of its own, and in those that show something
// shortened. Register it behind the plugins of the app, so that it sees the requests as they are
// sent. Its only hook is BeforeModel. It never answers and never fails a turn.
func RequestPlugin(cfg RequestConfig) (*plugin.Plugin, error) {
	if adk.IsNil(cfg.ReadResult) {
		return nil, fmt.Errorf("toolresult: %w", &ConfigError{Field: "RequestConfig.ReadResult", Value: nil, Reason: "set the tool that ReadResult returns"})
	}
	r := requester{read: cfg.ReadResult, masker: cfg.Masker, room: cfg.Room, put: cfg.Put, places: &survive.Places{}}
	return plugin.New(plugin.Config{Name: requestPluginName, BeforeModelCallback: r.beforeModel})
}

// requester prepares requests.
type requester struct {
	read   tool.Tool
	masker *Masker
	room   func(agent.CallbackContext, *model.LLMRequest) Room
	put    func(ctx context.Context, owner store.Owner, tool string, result store.Result) error
	places *survive.Places
}

// beforeModel declares read_result, and masks if the model can call it.
func (r requester) beforeModel(ctx agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
	defer r.places.Survive("toolresult: before a model call") // the turn goes on with the request as it is
	if !adk.Takes(req, r.read) {
		return nil, nil
	}
	adk.Declare(req, r.read)
	if r.masker == nil {
		return nil, nil
	}
	var put func(string, store.Result) error
	if r.put != nil {
		owner := ownerOf(ctx)
		put = func(tool string, result store.Result) error { return r.put(ctx, owner, tool, result) }
	}
	r.masker.Apply(req, r.roomOf(ctx, req), put)
	adk.Declare(req, r.read) // a mask may be all that there is to read
	return nil, nil
}

func (r requester) roomOf(ctx agent.CallbackContext, req *model.LLMRequest) (room Room) {
	if r.room == nil {
		return Room{}
	}
	defer r.places.Survive("toolresult: the room of a request")
	return r.room(ctx, req)
}
