package preset

import (
	"fmt"

	"github.com/adk-go-ext/longsession/tokens"
)

// SmallTierError refuses an agent's own model of the small tier, because safety.small_tier_parent is refuse.
type SmallTierError struct {
	Model string
	Text  string // what is wrong and what to do, on one line
}

// Error returns the text.
func (e *SmallTierError) Error() string { return e.Text }

const noticeColumns = 78

// smallTierText returns the text about an agent whose own model is of the small tier. It suggests better and small, and
// leaves the suggestion out if better is "". allowed is what --small-tier-parent=allow is good for.
func smallTierText(model, better, small, allowed string) string {
	suggestion := ""
	if better != "" {
		suggestion = fmt.Sprintf(" — e.g. --model %s --agentic-small-model %s", better, small)
	}
	return fmt.Sprintf("small-tier parent: %s is a small-tier model. Small-tier models work well as subtask workers"+
		" (--agentic-small-model) but loop and stall as the parent for long interactive sessions. Consider a frontier or mid-tier"+
		" model for the parent%s. Pass --small-tier-parent=allow to %s.", model, suggestion, allowed)
}

// guardSmallTier notes or refuses a model of the small tier. One prompt and --yolo are no long interactive
// session.
func (r *resolver) guardSmallTier() {
	s := &r.settings
	if s.Tier != tokens.TierSmall || r.in.OneShot || r.in.Yolo || s.SmallTierParent.Value == SmallTierAllow {
		return
	}
	tier := tokens.TierFrontier
	if c, given := classOf(s.Task.Value); given {
		tier = c.tier
	}
	better := r.current(modelOf(r.family(), tier))
	if s.SmallTierParent.Value == SmallTierRefuse {
		r.problems = append(r.problems, &SmallTierError{s.Model.Value, smallTierText(s.Model.Value, better, s.SmallModel.Value, "use it all the same")})
		return
	}
	s.Notes = append(s.Notes, wrap("longsession: "+smallTierText(s.Model.Value, better, s.SmallModel.Value, "suppress this notice"), noticeColumns))
}
