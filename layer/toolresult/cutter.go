package toolresult

import (
	"maps"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/internal/recalled"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// Cutter shortens tool results. It is safe for concurrent use. A shortened result depends on the result and
// the Config alone, so every process shows the model the same bytes.
type Cutter struct {
	cfg     Config
	all     limits
	perTool map[string]limits
	log     cutLog
	places  survive.Places
}

// New returns a Cutter. Its error joins one [*ConfigError] for each problem of the Config.
func New(cfg Config) (*Cutter, error) {
	all, perTool, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	cfg.Exempt, cfg.PerTool = slices.Clone(cfg.Exempt), maps.Clone(cfg.PerTool)
	return &Cutter{cfg: cfg, all: all, perTool: perTool, log: cutLog{observer: cfg.Observer}}, nil
}

// Event returns an event whose tool results are within the limits: ev itself if all of them are, else a
// copy in which only the Response maps of function responses differ. It never changes ev and never panics.
// Event uses owner, the session of ev, only for the observer and [Cutter.TruncateLog].
func (c *Cutter) Event(owner store.Owner, ev *session.Event) (shortened *session.Event) {
	shortened = ev
	defer c.places.Survive("toolresult: cutting an event") // a value of the tool's own type may panic
	form, cuts := c.event(ev)
	for i := range cuts {
		cuts[i].Session = owner
	}
	c.log.add(cuts)
	return form
}

// Cuts returns the cuts that [Cutter.Event] makes in these events, in their order, with an empty Session. It
// does not call the observer and does not change the log.
func (c *Cutter) Cuts(events []*session.Event) []Cut {
	var all []Cut
	for _, ev := range events {
		func() {
			defer c.places.Survive("toolresult: the cuts of an event")
			_, cuts := c.event(ev)
			all = append(all, cuts...)
		}()
	}
	return all
}

// event shortens the results of an event, and returns the event itself if it shortens none.
func (c *Cutter) event(ev *session.Event) (*session.Event, []Cut) {
	if ev == nil || ev.Content == nil {
		return ev, nil
	}
	var cuts []Cut
	out := ev
	for i, part := range ev.Content.Parts {
		if part == nil || part.FunctionResponse == nil {
			continue
		}
		from := part.FunctionResponse
		response, cut, changed := c.shorten(from.Name, from.Response, mediaTokens(from))
		if !changed {
			continue
		}
		cut.EventID, cut.InvocationID, cut.Author, cut.CallID, cut.Part = ev.ID, ev.InvocationID, ev.Author, from.ID, i
		cuts = append(cuts, cut)
		if out == ev {
			out = withOwnParts(ev)
		}
		shortened, withResponse := *from, *part
		shortened.Response = response
		withResponse.FunctionResponse = &shortened
		out.Content.Parts[i] = &withResponse
	}
	return out, cuts
}

// withOwnParts copies an event as far as the list of its parts.
func withOwnParts(ev *session.Event) *session.Event {
	out := *ev
	out.Content = &genai.Content{Role: ev.Content.Role, Parts: slices.Clone(ev.Content.Parts)}
	return &out
}

// Response shortens one result of a tool to the limits. It returns the same map and false if the result is
// within them already. It never changes the map and never panics. In the Cut, the fields that come from an
// event are empty. Response does not call the observer and does not change the log.
func (c *Cutter) Response(tool string, response map[string]any) (shortened map[string]any, cut Cut, changed bool) {
	shortened = response
	defer c.places.Survive("toolresult: cutting a result") // a value of the tool's own type may panic
	return c.shorten(tool, response, 0)
}

// limitsOf returns the limits of a tool.
func (c *Cutter) limitsOf(tool string) limits {
	if own, ok := c.perTool[tool]; ok {
		return own
	}
	return c.all
}

// isRecalled reports whether a result is what recall or recall_turn has found. These bound it, and a model that has to
// read it back would search for nothing. An app may have tools of these names, whose results look different, and limits
// of its own for them.
func (c *Cutter) isRecalled(tool string, response map[string]any) bool {
	if _, own := c.perTool[tool]; own || !recalled.IsTool(tool) {
		return false
	}
	passages, _ := response[recalled.PassagesKey].(string)
	_, ours := recalled.Line(&genai.FunctionResponse{Name: tool, Response: response})
	return ours && len(response) == 2 && len(passages) <= mostRecalled
}

// mostRecalled is more than the passages of one answer have, in bytes.
const mostRecalled = 64 << 10

// shorten is Response for a result that comes with media of that many tokens.
func (c *Cutter) shorten(tool string, response map[string]any, media int) (map[string]any, Cut, bool) {
	if len(response) == 0 || tool == ReadResultName || exempt(tool, c.cfg.Exempt) {
		return response, Cut{}, false
	}
	if c.isRecalled(tool, response) {
		return response, Cut{}, false
	}
	lim := c.limitsOf(tool)
	if media > 0 && lim.MaxTokens != noLimit {
		// Media are not cut, but leave less room. A quarter of the limit always remains for the text.
		lim.MaxTokens = max(lim.MaxTokens-media, lim.MaxTokens/4, minReadableTokens)
	}
	before := measure(response, lim)
	if before.odd {
		return c.repair(tool, response, lim, media)
	}
	stub := c.cfg.Readable && before.content > lim.StubAbove
	within := before.within(lim) && tokensOf(tool, response, before, lim) <= lim.MaxTokens
	if within && (!stub || recognized(response)) {
		return response, Cut{}, false
	}
	out, cut := c.replace(tool, response, lim, stub, within)
	if !cut.shorter() {
		return response, Cut{}, false // nothing shorter says what is missing
	}
	return out, cut, true
}

// repair shortens a result that holds what JSON cannot hold, such as NaN or a map that contains itself.
func (c *Cutter) repair(tool string, response map[string]any, lim limits, media int) (map[string]any, Cut, bool) {
	repaired, ok := canonical.Value(response).(map[string]any)
	if !ok || measure(repaired, lim).odd {
		return response, Cut{}, false
	}
	if out, cut, changed := c.shorten(tool, repaired, media); changed {
		return out, cut, true // with the same reference: it is that of the canonical form
	}
	cut := Cut{Tool: tool, Kind: Repaired}
	cut.BytesBefore, cut.LinesBefore, cut.TokensBefore = sizesOf(tool, response, "")
	cut.BytesAfter, cut.LinesAfter, cut.TokensAfter = sizesOf(tool, repaired, "")
	return repaired, cut, true
}

// replace returns a stub or a cut of a result. If the result is over its limits, what is returned is shorter where
// anything is.
func (c *Cutter) replace(tool string, response map[string]any, lim limits, stub, within bool) (map[string]any, Cut) {
	cut := Cut{Tool: tool, Kind: Shortened}
	var whole store.Result
	if c.cfg.Readable {
		whole = store.ResultOf(response)
		cut.Ref = whole.Ref
	}
	cut.BytesBefore, cut.LinesBefore, cut.TokensBefore = sizesOf(tool, response, whole.Content)
	room := lim
	if !within {
		room.MaxBytes, room.MaxTokens = min(lim.MaxBytes, cut.BytesBefore-1), min(lim.MaxTokens, cut.TokensBefore)
	}
	var out map[string]any
	if stub {
		cut.Kind = Stubbed
		out = stubOf(tool, response, whole, room)
	} else {
		out = cutResponse(tool, response, whole.Ref, room, lim.MaxTokens)
	}
	cut.BytesAfter, cut.LinesAfter, _ = sizesOf(tool, out, "")
	cut.TokensAfter = countTokens(tool, out) // as the limit was kept: an estimate may say that nothing was gained
	return out, cut
}
