package compaction

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
)

// Economy is the arithmetic by which prices decide when to compact, where Config.InvocationThreshold is 0, for the prompt
// of one branch. Amounts are in USD. The zero value means that prices do not decide.
//
// Each call of the model reads the history again. A compaction makes that cheaper from then on, and costs once: the
// summary, and reading anew what comes after it. Three conditions make it due:
//
//	Window >= MinWindow   there is enough to summarize
//	Saving >= Price       it pays if the session goes on for a quarter as many calls as it has had
//	Held   >= Threshold   so much has gathered that waiting costs more than it saves
//
// How long a session goes on is not known, and one that has run for n calls tends to run for n more: if every second one
// does, four of five run for n/4 more. For the first compaction, Threshold is Price: a short session never pays for a
// summary more than its history has cost already. For the others it is PriceRegular. Under a steady growth that is the
// economic order quantity: compactions at intervals of the square root of
// 2 x PriceRegular / (growth per call x price of a token).
//
// A summary loses what it leaves out, and no price knows that. MinWindow is therefore ten times the length that a summary
// may have, and 20 times for the first compaction: a session that has not had one may well be a short one.
//
// The fields take all but the newest events to be removable. What must stay raw besides, such as pinned events, is known
// once a window is chosen: it is then judged by what is left, and what stays is read anew at each compaction. If that
// does not pay, Due reports true and no compaction comes; Status.Reason says why.
type Economy struct {
	// Priced reports whether the prices are known. If they are not, amounts are at $1 for a million tokens of input, with
	// the usual ratios: a tenth of that for cached ones, and eight times as much for those of summaries.
	Priced bool
	// Calls is how many calls of the model the branch has had. Half of the events that summaries hide count as calls.
	Calls int
	// Removable is how many estimated tokens a compaction would take out of the prompt, and Window how many it would
	// summarize for that.
	Removable, Window int
	// MinWindow is the least Window for which a compaction is due.
	MinWindow int
	// Growth is how many tokens the history has grown by with each call that is shown.
	Growth float64
	// Held is what these tokens, as they gathered, have cost since the last compaction.
	Held float64
	// Saving is what they will cost in a quarter as many calls as there were.
	Saving float64
	// Price is what a compaction would cost now. PriceRegular is the part that does not grow with the window.
	Price, PriceRegular float64
	// Threshold is what Held must reach: Price for the first compaction of a session, PriceRegular for any other.
	Threshold float64
	// CacheExpired reports whether the provider is taken to have dropped the prompt from its cache. The next call then
	// reads all of it anew with or without a compaction, which makes that cheaper.
	CacheExpired bool
}

// Due reports whether a compaction pays now by these figures. It may still have to wait, because what a window takes is
// not worth a summary, or because there is nothing that may be summarized: [Status] has the reason.
func (e Economy) Due() bool { return meter.Economy(e).Due() }

// EconomyStatus is what compaction by price has led to in a session so far. Amounts are in USD, at the prices of the
// models that the session has now.
type EconomyStatus struct {
	// Economy is the arithmetic for the next prompt in the root branch.
	Economy
	// Model is the agent's model. If Priced is false, Registry has no prices for it, and Spent and Saved are 0.
	Model string
	// Spent is what compactions have cost: the summaries, by the usage that their records have, and reading anew what
	// came after them.
	Spent float64
	// Saved is what later calls have not paid for what summaries hide, at the cached price. A summary that another
	// process made of the same window beside it is in Spent and not in Saved.
	Saved float64
	// CallsLeft is after how many calls the trigger fires if the prompt goes on to grow as it has since the last
	// compaction; 0 if Due is true, -1 if that cannot be told, because the prompt has not grown.
	CallsLeft int
}

// economyOf describes a session, given the events that are loaded and the arithmetic for its next prompt.
func economyOf(h *sessions.Handle, now meter.Economy) EconomyStatus {
	limits := h.State.Prompts.Limits()
	status := EconomyStatus{Economy: Economy(now), Model: limits.Model, CallsLeft: h.Meter.CallsLeft("")}
	prices := limits.Prices
	if !now.Priced {
		return status
	}
	events := h.View.Raw()
	counted := inEffect(events, h.View.Current())
	hidden := map[string]int{}  // tokens that the current records save in each prompt
	savedIn := map[string]int{} // of these, by branch
	history, saved := 0, 0
	hide := func(m *record.Metadata, tokens int) {
		savedIn[m.Branch] += tokens - hidden[m.RecordID]
		saved += tokens - hidden[m.RecordID]
		hidden[m.RecordID] = tokens
	}
	for _, ev := range events {
		m, err := record.From(ev)
		switch {
		case err != nil:
		case m != nil:
			if counted[m.RecordID] != nil {
				for _, id := range m.Absorbed {
					if part := counted[id]; part != nil {
						hide(part, 0)
					}
				}
				hide(m, m.OriginalTokens-m.CompactedTokens)
			}
			status.Spent += prices.SummaryInput*float64(m.Usage.PromptTokens) + prices.SummaryOutput*float64(m.Usage.OutputTokens)
			anew := max(0, history-saved-m.CompactedTokens)
			status.Spent += prices.Input*float64(m.CompactedTokens) + (prices.Input-prices.Cached)*float64(anew)
		default:
			history += promptsize.OfEvent(ev)
			if meter.IsCall(adk.Classify(ev)) {
				unread := 0 // a sum of floats would depend on the order
				for branch, tokens := range savedIn {
					if adk.Visible(adk.Lane(ev), branch) {
						unread += tokens
					}
				}
				status.Saved += prices.Cached * float64(unread)
			}
		}
	}
	return status
}

// inEffect are the records that hide something, and those that they have absorbed, by ID. A record that is neither was
// made beside another of the same window, by another process: it was paid for, and saves nothing.
func inEffect(events []*session.Event, current []*record.Metadata) map[string]*record.Metadata {
	all, counted := map[string]*record.Metadata{}, map[string]*record.Metadata{}
	for _, ev := range events {
		if m, err := record.From(ev); err == nil && m != nil {
			all[m.RecordID] = m
		}
	}
	for pending := slices.Clone(current); len(pending) > 0; {
		m := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if counted[m.RecordID] != nil {
			continue
		}
		counted[m.RecordID] = m
		for _, id := range m.Absorbed {
			if part := all[id]; part != nil {
				pending = append(pending, part)
			}
		}
	}
	return counted
}
