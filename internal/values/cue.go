package values

import (
	"strings"
	"unicode/utf8"
)

// corrects reports whether a message says that something is not as it was said.
func corrects(text string) bool {
	if len(text) > 2000 {
		text = text[:2000]
	}
	lower := strings.ToLower(text)
	for _, cue := range cues {
		if at := strings.Index(lower, cue); at >= 0 {
			if cue[0] >= utf8.RuneSelf || (at == 0 || !isLower(lower[at-1])) && (at+len(cue) == len(lower) || !isLower(lower[at+len(cue)])) {
				return true
			}
		}
	}
	return false
}

var cues = []string{"actually", "no longer", "instead", "changed to", "has changed", "correction", "i meant", "not anymore", "rescheduled", "moved to", "postponed", "i was wrong", "my mistake", "updated to",
	"change it to", "make that", "更正", "改成", "改为", "改到", "不是", "其实", "说错", "记错", "纠正", "换成"}
