package guard

import (
	"fmt"
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// landingEnd ends the note of a last call.
const landingEnd = "Tools are off now: answer now with what you have; say what is unfinished.]"

// landingNote is what the model is told with a last call.
func landingNote(u ledger.Use) string {
	if u.Share == 0 {
		return "[Budget: this is the last model call of this run. " + landingEnd
	}
	return fmt.Sprintf("[Budget: this %s has used %s of %s. %s", u.Scope, u.Used(), u.Bound(), landingEnd)
}

func isLandingNote(text string) bool {
	return strings.HasPrefix(text, "[Budget: ") && strings.HasSuffix(text, landingEnd)
}

// budgetNote is what the model is told once per turn.
func budgetNote(u ledger.Use) string {
	return fmt.Sprintf("[Budget: this %s has used %s of %s. Do only what is still needed, and then answer.]", u.Scope, u.Used(), u.Bound())
}

// note writes a note into an event of tool results before it is stored, if one is due: in each event before a
// last call, and once per turn from Config.NoteAt on.
func (g hooks) note(ctx agent.InvocationContext, ev *session.Event, who caller, p ledger.Payer) {
	if ev.Content == nil || len(adk.FunctionResponses(ev)) == 0 {
		return
	}
	look := p.Outlook(g.cfg.Now())
	text := ""
	switch {
	case p.Stopped(g.cfg.Now()) != nil:
		return // there is no next call
	case look.Lands && g.cfg.Landing == LandingSoft:
		text = landingNote(look.Use)
	case g.cfg.NoteAt > 0 && !look.Noted && look.Use.Share >= g.cfg.NoteAt:
		text = budgetNote(look.Use)
	}
	if text == "" || !notes.Budget.Into(ev.Content, text, adk.IsExempt) {
		return
	}
	p.NoteOnce()
	o := who.observation(Noted, p)
	o.Reason = text
	g.observe(ctx, o)
}
