package guard

import (
	"maps"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// stopKey is the key under which an event's metadata has the stop of its turn.
const stopKey = "longsession:stop"

// StopOf returns the bound that a turn had reached when an event of it was stored, nil if there was none: of the
// answer that a turn ends with after its last call ([LandingSoft]), of an answer that has itself reached a bound,
// and of the event that stands for a refused call ([AsEvent]). It works on events of a run and on stored ones.
func StopOf(ev *session.Event) *StopError {
	if ev == nil {
		return nil
	}
	in, ok := ev.CustomMetadata[stopKey].(map[string]any)
	if !ok {
		return nil
	}
	text := func(key string) string {
		s, _ := in[key].(string)
		return s
	}
	stop := &StopError{Kind: Kind(text("kind")), Scope: Scope(text("scope")), Spent: text("spent"), Bound: text("bound")}
	stop.Landed, _ = in["landed"].(bool)
	if stop.Kind == "" || stop.Scope == "" {
		return nil
	}
	return stop
}

// metadata is a stop as the metadata of an event, nil if there is none.
func (e *StopError) metadata() map[string]any {
	if e == nil {
		return nil
	}
	return map[string]any{stopKey: map[string]any{
		"kind": string(e.Kind), "scope": string(e.Scope), "spent": e.Spent, "bound": e.Bound, "landed": e.Landed,
	}}
}

// tell writes the bound that a turn has reached into an answer, before it is stored. Under AsEvent, the answer of a
// last call has its kind as the error code, too: a server that drops errors may drop metadata.
func tell(g *Guard, ev *session.Event, p ledger.Payer) {
	if ev.Author == "user" || ev.Content == nil || len(adk.FunctionCalls(ev)) > 0 || len(adk.FunctionResponses(ev)) > 0 {
		return
	}
	tripped, landed := p.Tripped(g.cfg.Now())
	if tripped == nil {
		return
	}
	stop := stopError(tripped)
	metadata := maps.Clone(ev.CustomMetadata) // partial events of the same call share the map
	if metadata == nil {
		metadata = map[string]any{}
	}
	maps.Copy(metadata, stop.metadata())
	ev.CustomMetadata = metadata
	if g.cfg.OnStop == AsEvent && landed && ev.ErrorCode == "" {
		ev.ErrorCode, ev.ErrorMessage = string(stop.Kind), stop.Error()
	}
}
