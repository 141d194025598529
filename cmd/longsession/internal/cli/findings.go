package cli

import (
	"fmt"

	"github.com/adk-go-ext/longsession/replay"
)

// judge returns what must not be in a report. bare is that of its policy: where nothing keeps the prompts
// under the limit, one over it is no finding.
func judge(r *replay.Report, bare bool) []string {
	var found []string
	if r.Orphans > 0 {
		found = append(found, plural(r.Orphans, "orphan")+": a call was sent without its result, or a result without its call")
	}
	if r.Hidden > 0 {
		found = append(found, plural(r.Hidden, "violation")+" of what a view must keep")
	}
	if extra := r.With.ModelCalls - r.Without.ModelCalls; extra > 0 {
		found = append(found, plural(extra, "model call")+" more than without compaction")
	}
	if unexplained := unexplained(r); unexplained > 0 && !bare {
		found = append(found, plural(unexplained, "prompt")+fmt.Sprintf(" over the limit of %s tokens, though what must stay raw is under it", commas(r.Limit)))
	}
	return found
}

// unexplained counts the prompts over the limit that need not be, and of which the library knew.
func unexplained(r *replay.Report) int {
	n := 0
	for _, o := range r.Over {
		if o.Needless() {
			n++
		}
	}
	return n
}
