package toolresult

import (
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// PluginConfig configures [Plugin]. Every field is optional.
type PluginConfig struct {
	// Cutter shortens results before they are stored as events. Its Config must be Readable. If nil,
	// results stay as they are. It needs a Store.
	Cutter *Cutter
	// Store takes whole results in before they are cut or masked. If nil, read_result is not offered.
	Store store.Store
	// Read configures read_result, which is offered as by [RequestPlugin].
	Read ReadOptions
	// Masker masks old results in requests. It needs a Store. If nil, nothing is masked.
	Masker *Masker
	// Room returns the size of a request for the Masker. If nil, Masking.From has no effect. A panic
	// in it means the same.
	Room func(agent.CallbackContext, *model.LLMRequest) Room
	// PutTimeout is how long an event waits for the Store. While a Put hangs beyond that, the Store is
	// not asked again. 0 means 5 s. Off waits as long as the run.
	PutTimeout time.Duration
	// InlineMax is the size in bytes up to which a result that could not be stored stays whole. A
	// larger one is cut, with a note that the rest is lost. 0 means 81,920 (80 KiB). Off keeps every
	// result whole.
	InlineMax int
	// Logger gets a warning when the Store begins to fail, an info when it works again, and a warning
	// for each result that lost a part. If nil, slog.Default() at that time is used.
	Logger *slog.Logger
}

const (
	defaultPutTimeout = 5 * time.Second
	defaultInlineMax  = 80 << 10
)

// pluginName and requestPluginName are the names of the plugins in this package. ADK refuses two plugins
// of one name on a runner.
const (
	pluginName        = "longsession-toolresult"
	requestPluginName = "longsession-toolresult-request"
)

// Plugin returns a plugin for an app whose session service is not wrapped by package compaction. It cuts
// results on their way into storage, whole ones first going into the Store, so the session itself stays
// small. It also replaces ADK's error for an unknown tool, which lists all tools in random order, by a
// short and stable text.
//
// Register it before plugins of the app that write into events, so that what they write is not cut away.
// It never answers in place of another callback and never fails a turn, with one exception: in a live run
// (RunLive) the event is sent to the model before any plugin sees it, so a result that must be cut is
// answered in AfterTool, which hides it from later AfterTool callbacks. Not cut are: results of
// streaming tools in live runs, and function responses that the user sends, such as late answers of
// long-running tools. An agent that runs as a tool of another has no plugins.
//
// The error names every problem of the config, each as a [*ConfigError].
func Plugin(cfg PluginConfig) (*plugin.Plugin, error) {
	w := &writer{
		cutter:    cfg.Cutter,
		putter:    putter{store: cfg.Store, timeout: orDefault(cfg.PutTimeout, defaultPutTimeout), logger: cfg.Logger},
		inlineMax: orDefault(cfg.InlineMax, defaultInlineMax),
	}
	if cfg.InlineMax == Off {
		w.inlineMax = noLimit
	}
	if adk.IsNil(cfg.Store) {
		w.putter.store = nil
	}
	w.places.Logger = cfg.Logger
	r := requester{masker: cfg.Masker, room: cfg.Room, places: &w.places}
	var p configerr.Problems
	if w.putter.store == nil {
		if cfg.Cutter != nil || cfg.Masker != nil {
			p.Refuse("PluginConfig.Store", nil, "what is cut or masked would be lost: set a Store, such as store.NewFolder")
		}
	} else {
		var err error
		if r.read, err = ReadResult(cfg.Store, cfg.Read); err != nil {
			p = append(p, err)
		}
		r.put = w.putter.putMasked
	}
	if cfg.Cutter != nil && !cfg.Cutter.cfg.Readable {
		p.Refuse("PluginConfig.Cutter", cfg.Cutter, "it is not Readable, and the model could not read what was cut: make it with Config.Readable")
	}
	if cfg.PutTimeout < Off {
		p.Refuse("PluginConfig.PutTimeout", cfg.PutTimeout, "use a positive duration, 0 for 5 s, or Off")
	}
	if cfg.InlineMax < Off {
		p.Refuse("PluginConfig.InlineMax", cfg.InlineMax, "use a number of bytes, 0 for 80 KiB, or Off")
	}
	if err := p.Join("toolresult"); err != nil {
		return nil, err
	}
	if err := w.prepare(); err != nil {
		return nil, fmt.Errorf("toolresult: %w", err)
	}
	hooks := plugin.Config{Name: pluginName, OnEventCallback: w.onEvent}
	if w.cutter != nil {
		hooks.BeforeRunCallback, hooks.AfterRunCallback, hooks.AfterToolCallback = w.beforeRun, w.afterRun, w.afterTool
	}
	if r.read != nil {
		hooks.BeforeModelCallback = r.beforeModel
	}
	return plugin.New(hooks)
}
