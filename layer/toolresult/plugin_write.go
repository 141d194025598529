package toolresult

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// writer shortens results before they are stored.
type writer struct {
	cutter    *Cutter // nil: shortens nothing
	lossy     *Cutter // for results that cannot be stored
	putter    putter
	inlineMax int
	live      *lru.Cache[string, struct{}] // invocations of live runs
	places    survive.Places
}

// maxLiveRuns bounds the live runs of one process that are known as such at a time.
const maxLiveRuns = 4_096

// prepare makes what the write side keeps.
func (w *writer) prepare() (err error) {
	if w.live, err = lru.New[string, struct{}](maxLiveRuns); err != nil {
		return err
	}
	if w.putter.stored, err = lru.New[storedKey, struct{}](maxStored); err != nil {
		return err
	}
	if w.cutter != nil {
		w.lossy, err = w.cutter.withoutRefs()
	}
	return err
}

// beforeRun notes live runs. ADK gives them no RunConfig.
func (w *writer) beforeRun(ctx agent.InvocationContext) (_ *genai.Content, _ error) {
	defer w.places.Survive("toolresult: before a run")
	if ctx.RunConfig() == nil {
		w.live.Add(ctx.InvocationID(), struct{}{})
	}
	return nil, nil
}

func (w *writer) afterRun(ctx agent.InvocationContext) {
	defer w.places.Survive("toolresult: after a run")
	w.live.Remove(ctx.InvocationID())
}

// onEvent shortens the results of an event in place. In a live run the event is on its way to the model
// in another goroutine, so it stays as it is.
func (w *writer) onEvent(ctx agent.InvocationContext, ev *session.Event) (_ *session.Event, _ error) {
	defer w.places.Survive("toolresult: an event") // what is not shortened by then is stored as it is
	if ev == nil || ev.Partial || ev.Content == nil || ctx.RunConfig() == nil {
		return nil, nil
	}
	for i, part := range ev.Content.Parts {
		if part == nil || part.FunctionResponse == nil {
			continue
		}
		response := part.FunctionResponse
		if short, unknown := unknownTool(response.Name, response.Response); unknown {
			response.Response = short
			continue
		}
		if w.cutter == nil {
			continue
		}
		sess := ctx.Session()
		owner := adk.RefOf(sess)
		at := Cut{Session: owner, EventID: ev.ID, InvocationID: ev.InvocationID, Author: ev.Author, CallID: response.ID, Part: i}
		if shortened, ok := w.shorten(ctx, response.Name, response.Response, mediaTokens(response), at); ok {
			response.Response = shortened
		}
	}
	return nil, nil
}

// afterTool shortens a result in a live run. It answers only then, and only if the result is too long.
func (w *writer) afterTool(ctx agent.ToolContext, t tool.Tool, _, result map[string]any, err error) (shortened map[string]any, _ error) {
	defer w.places.Survive("toolresult: the result of a tool")
	if err != nil || result == nil || !w.live.Contains(ctx.InvocationID()) {
		return nil, nil
	}
	at := Cut{Session: ownerOf(ctx), InvocationID: ctx.InvocationID(), Author: ctx.AgentName(), CallID: ctx.FunctionCallID()}
	if shortened, ok := w.shorten(ctx, t.Name(), result, 0, at); ok {
		return shortened, nil
	}
	return nil, nil
}

// lostNote is the text in a cut result whose rest was not stored.
const lostNote = "The rest of this result is lost, because it could not be stored. Call the tool again for less at a time."

// shorten stores a result that is too long and returns what takes its place.
func (w *writer) shorten(ctx context.Context, tool string, response map[string]any, media int, at Cut) (map[string]any, bool) {
	shortened, cut, changed := w.cutter.shorten(tool, response, media)
	if !changed {
		return nil, false
	}
	whole := store.ResultOf(response)
	if err := w.putter.put(ctx, at.Session, tool, whole); err != nil {
		if len(whole.Content) <= w.inlineMax {
			return nil, false
		}
		if shortened, cut, changed = w.lossy.shorten(tool, response, media); !changed {
			return nil, false
		}
		key := "lost"
		for _, taken := shortened[key]; taken; _, taken = shortened[key] {
			key += "_"
		}
		shortened[key] = lostNote
		noted := cut
		noted.BytesAfter, noted.LinesAfter, noted.TokensAfter = sizesOf(tool, shortened, "")
		if fits(tool, shortened, w.cutter.limitsOf(tool)) && noted.shorter() {
			cut = noted
		} else {
			delete(shortened, key) // there is no room for it
		}
		orDefaultLogger(w.putter.logger).WarnContext(ctx, "a tool result was cut and its rest is lost", "tool", tool, "bytes", len(whole.Content), "error", err)
	}
	cut.Session, cut.EventID, cut.InvocationID, cut.Author, cut.CallID, cut.Part = at.Session, at.EventID, at.InvocationID, at.Author, at.CallID, at.Part
	w.cutter.log.add([]Cut{cut})
	return shortened, true
}

// lostRoom is the room in bytes for the note that a part is lost.
const lostRoom = len(lostNote) + len(`,"lost":""`) + 16

// withoutRefs returns a Cutter with the same limits for results that are stored nowhere.
func (c *Cutter) withoutRefs() (*Cutter, error) {
	cfg := c.cfg
	cfg.Readable, cfg.Observer = false, nil
	lossy, err := New(cfg)
	if err != nil {
		return nil, err
	}
	lossy.all = lossy.all.less(lostRoom)
	for tool, own := range lossy.perTool {
		lossy.perTool[tool] = own.less(lostRoom)
	}
	return lossy, nil
}

// less returns limits with room for n more bytes and some tokens.
func (l limits) less(n int) limits {
	if l.MaxBytes != noLimit {
		l.MaxBytes = max(minBytes, l.MaxBytes-n)
	}
	if l.MaxTokens != noLimit {
		l.MaxTokens = max(minTokens, l.MaxTokens-n/3)
	}
	return l
}
