package replay

// Total adds up reports of one policy. Its zero value is the total of no reports, ready to use. It
// is for one goroutine.
type Total struct {
	Policy        string    `json:"policy"`
	Conversations int       `json:"conversations"`
	Turns         int       `json:"turns"`
	Messages      int       `json:"messages"`
	Events        int       `json:"events"`
	Without       Sent      `json:"without"`
	With          Sent      `json:"with"`
	SavedPercent  float64   `json:"saved_percent"`
	Compactions   int       `json:"compactions"`
	Summarizer    Summaries `json:"summarizer"`
	Orphans       int       `json:"orphans"`
	Hidden        int       `json:"hidden"`
	// Over counts prompts over the limit. Unavoidable counts those whose raw parts alone exceed it,
	// and Unforeseen those that the library expected to be within it.
	Over        int `json:"over"`
	Unavoidable int `json:"over_unavoidable"`
	Unforeseen  int `json:"over_unforeseen"`
	// Alerts, WouldStop and Checkpoints count those of the reports.
	Alerts      int `json:"alerts"`
	WouldStop   int `json:"would_stop"`
	Checkpoints int `json:"checkpoints"`
	// Layers adds up what the layers did, nil without other layers than compaction.
	Layers *Layers `json:"layers,omitempty"`
	// Facts is nil if no conversation had questions. Its Tokens is a sum.
	Facts *Facts `json:"facts,omitempty"`
}

// Needless counts the prompts over the limit that are neither Unavoidable nor Unforeseen.
func (t *Total) Needless() int { return t.Over - t.Unavoidable - t.Unforeseen }

// Add adds r. Policy becomes that of r.
func (t *Total) Add(r *Report) {
	t.Policy = r.Policy
	t.Conversations++
	t.Turns += r.Turns
	t.Messages += r.Messages
	t.Events += r.Events
	t.Without = t.Without.add(r.Without)
	t.With = t.With.add(r.With)
	t.SavedPercent = saved(t.Without, t.With)
	t.Compactions += len(r.Compactions)
	t.Summarizer = t.Summarizer.add(r.Summarizer)
	t.Orphans += r.Orphans
	t.Hidden += r.Hidden
	for _, o := range r.Over {
		t.Over++
		switch {
		case o.Unavoidable:
			t.Unavoidable++
		case o.Unforeseen:
			t.Unforeseen++
		}
	}
	t.Alerts += len(r.Alerts)
	t.WouldStop += len(r.WouldStop)
	t.Checkpoints += len(r.Checkpoints)
	if r.Layers != nil {
		if t.Layers == nil {
			t.Layers = &Layers{}
		}
		t.Layers.add(*r.Layers)
	}
	if r.Facts != nil {
		if t.Facts == nil {
			t.Facts = &Facts{}
		}
		t.Facts.add(*r.Facts)
	}
}

func (s Sent) add(o Sent) Sent {
	return Sent{
		ModelCalls:        s.ModelCalls + o.ModelCalls,
		PromptTokens:      s.PromptTokens + o.PromptTokens,
		CachedTokens:      s.CachedTokens + o.CachedTokens,
		OutputTokens:      s.OutputTokens + o.OutputTokens,
		LargestPrompt:     max(s.LargestPrompt, o.LargestPrompt),
		Dollars:           s.Dollars + o.Dollars,
		Said:              s.Said + o.Said,
		SaidWhole:         s.SaidWhole + o.SaidWhole,
		Instructions:      s.Instructions + o.Instructions,
		InstructionsWhole: s.InstructionsWhole + o.InstructionsWhole,
	}
}

func (s Summaries) add(o Summaries) Summaries {
	measured := s.Measured + o.Measured
	kept := 0.
	if measured > 0 {
		kept = (s.Kept*float64(s.Measured) + o.Kept*float64(o.Measured)) / float64(measured)
	}
	return Summaries{
		Measured:     measured,
		Kept:         kept,
		Invented:     s.Invented + o.Invented,
		Calls:        s.Calls + o.Calls,
		Estimated:    s.Estimated + o.Estimated,
		PromptTokens: s.PromptTokens + o.PromptTokens,
		OutputTokens: s.OutputTokens + o.OutputTokens,
		Dollars:      s.Dollars + o.Dollars,
		Failed:       s.Failed + o.Failed,
		Written:      s.Written + o.Written,
		WithoutModel: s.WithoutModel + o.WithoutModel,
		Seconds:      s.Seconds + o.Seconds,
	}
}

func (f *Facts) add(o Facts) {
	f.Questions += o.Questions
	f.Kept += o.Kept
	f.Raw += o.Raw
	f.KeepLast += o.KeepLast
	f.Recalled += o.Recalled
	f.Tokens += o.Tokens
	f.Unanswerable += o.Unanswerable
	f.Empty += o.Empty
	f.Unsaid += o.Unsaid
}

// saved is the share of prompt tokens that the policy saved, in percent.
func saved(without, with Sent) float64 {
	if without.PromptTokens == 0 {
		return 0
	}
	return 100 * float64(without.PromptTokens-with.PromptTokens) / float64(without.PromptTokens)
}
