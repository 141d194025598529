package meter

import "github.com/adk-go-ext/longsession/internal/adk"

// Pressure is how urgently the prompts of a session must become smaller.
type Pressure int

const (
	None          Pressure = iota
	OverThreshold          // the token trigger or the economical one is due
	OverLimit              // a prompt may be over the hard limit: compact before it is sent
)

// Pressure compares the prompts that a new event of a branch makes possible with the limits. After a call
// nothing can be sent, so there is none. After an agent's event, the agents of its branch may send
// a prompt; after a user's, those of any branch.
func (m *Meter) Pressure(branch string, class adk.Class) Pressure {
	if class.Is(adk.Calls) {
		return None
	}
	readers := []string{branch}
	if class.Is(adk.ByUser) {
		readers = m.Branches()
	}
	highest := None
	for _, branch := range readers {
		size := m.Prompt(branch)
		due := m.session.IsDue(branch, size)
		switch {
		case m.session.IsQuiet(branch, size):
		case size.AtMost >= m.session.Limits().HardLimit:
			return OverLimit
		case due:
			highest = OverThreshold
		}
	}
	return highest
}

// AnyOverLimit reports whether the prompt of any branch may be over the hard limit.
func (m *Meter) AnyOverLimit() bool { return m.Excess() > 0 }

// Excess is how much of the view a compaction has to take out, by estimate, before no prompt may be over the hard limit:
// at least so much, and likely more. 0 if none may be now.
func (m *Meter) Excess() (least int) {
	for _, reader := range m.Branches() {
		size := m.Prompt(reader)
		if over := size.AtMost - m.session.Limits().HardLimit; over >= 0 {
			least = max(least, 1, int(float64(over)/max(1, size.ratio)/(1+2./estimateErrorDivisor)))
		}
	}
	return least
}

// IsDue reports whether a prompt of that size sets off the token trigger of a branch: it is over
// the threshold, and over the floor that an earlier compaction left. A prompt under the threshold
// removes the floor. For a threshold of 7,000 tokens and a compaction that could not get below
// 7,000:
//
//	7,000 tokens after it   the floor is raised to 7,700
//	7,500                   not due: a compaction could not help a moment ago
//	7,700                   due
//
// A prompt of which a compaction pays is due at any size, and leaves a floor where it is.
func (s *Session) IsDue(branch string, size Prompt) bool {
	limits, windows := s.Limits(), &s.learned.Windows
	on := limits.Threshold > 0
	pays := limits.Prices.Decide() && size.Economy.Due()
	if on && size.Likely < limits.Threshold || !on && size.AtMost < limits.HardLimit {
		if !pays { // one that pays may wait for more to summarize
			windows.Relieved(branch)
		}
		return pays
	}
	return pays || on && size.Likely >= windows.Floor(branch)
}

// IsQuiet reports whether a prompt of that size is not worth a check: there was nothing to
// summarize the last time, and the prompt has not grown enough since. Over the hard limit every
// event is worth one, because it may be what makes the event before it summarizable.
func (s *Session) IsQuiet(branch string, size Prompt) bool {
	return size.Likely < s.learned.Windows.QuietUntil(branch) && size.AtMost < s.Limits().HardLimit
}
