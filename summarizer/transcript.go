package summarizer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/notes"
)

// Transcript renders events as text, one line for each part, in order. The text takes at most
// maxTokens estimated tokens and does not end with a line break.
//
// Every event appears, even one without content. If the whole does not fit, the longest values are
// cut in the middle, all to the same number of characters. If it does not fit even with every value
// cut to 200 characters, the error wraps [ErrTooLong] and says how many tokens are needed. Values
// are escaped, so the number of lines depends on the number of parts only, not on their content.
// Nil events, contents and parts are skipped.
func Transcript(events []*session.Event, maxTokens int) (string, error) {
	lines := linesOf(events)
	limit, ok := commonCap(lines, maxTokens)
	if !ok {
		return "", tooLong(lines, maxTokens)
	}
	return render(lines, limit), nil
}

func linesOf(events []*session.Event) []line {
	var lines []line
	answered := answeredIn(events)
	for _, ev := range events {
		lines = append(lines, eventLines(ev, answered)...)
	}
	return lines
}

func tooLong(lines []line, maxTokens int) error {
	return fmt.Errorf("%w: %d lines need at least %d tokens, the limit is %d; take fewer events",
		ErrTooLong, len(lines), floorCost(lines), maxTokens)
}

func render(lines []line, limit int) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		text, _ := l.at(limit)
		b.WriteString(text)
	}
	return b.String()
}

// Cost returns the smallest number of estimated tokens that an event takes up in a [Transcript]:
// its lines with every value cut as far as possible. A window whose costs sum to at most the
// transcript's limit is rendered with no event left out. The cost of a call includes the remark
// that it was interrupted. Cost is 0 for a nil event only. Its time is linear in the size of the
// event.
func Cost(ev *session.Event) int { return floorCost(eventLines(ev, nil)) }

func floorCost(lines []line) int {
	sum := 0
	for _, l := range lines {
		sum += l.cost(floorCap)
	}
	return sum
}

// eventLines renders one event. Every event except nil has at least one line, because a record may
// cover it and its content would be lost if the transcript did not show it. answered holds the IDs
// of the calls with a response. Any other call counts as interrupted, unless it is long-running.
func eventLines(ev *session.Event, answered map[string]bool) []line {
	if ev == nil {
		return nil
	}
	who := speaker(ev)
	var lines []line
	if ev.Content != nil {
		longRunning := setOf(ev.LongRunningToolIDs)
		for _, p := range ev.Content.Parts {
			if p != nil && !isNote(ev, p) {
				lines = append(lines, partLine(who, p, longRunning, answered))
			}
		}
	}
	lines = append(lines, transcriptionLines(who, ev)...)
	if ev.ErrorCode != "" || ev.ErrorMessage != "" {
		lines = append(lines, newLine(who+" fails with "+label(ev.ErrorCode, "an error")+": ", orNothing(ev.ErrorMessage)))
	}
	if len(ev.Actions.ArtifactDelta) > 0 {
		lines = append(lines, newLine(who+" saves artifacts: ", artifacts(ev.Actions.ArtifactDelta)))
	}
	if len(lines) == 0 {
		lines = append(lines, actionLine(who, ev))
	}
	return lines
}

// isNote reports whether a part of a message is not the user's, but a layer's note about that moment.
func isNote(ev *session.Event, p *genai.Part) bool {
	return ev.Author == genai.RoleUser && notes.IsPart(p)
}

// answeredIn returns the IDs of the calls with a response among the events. A call and its response
// are always summarized together, so a call without a response here has none at all.
func answeredIn(events []*session.Event) map[string]bool {
	answered := map[string]bool{}
	for _, ev := range events {
		for _, response := range adk.FunctionResponses(ev) {
			answered[response.ID] = true
		}
	}
	return answered
}

// setOf returns IDs as a set. Without IDs, the most common case, the set is nil.
func setOf(ids []string) map[string]bool {
	if len(ids) == 0 {
		return nil
	}
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// speaker returns the author of an event, followed by the role if it differs. A tool's response has
// the agent as its author and the role "user": "agent [user]".
func speaker(ev *session.Event) string {
	role := ""
	if ev.Content != nil {
		role = ev.Content.Role
	}
	author := label(ev.Author, "unknown")
	if role == "" || role == ev.Author {
		return author
	}
	return author + " [" + label(role, "no role") + "]"
}

// transcriptionLines renders live speech, which is stored next to an event's content.
func transcriptionLines(who string, ev *session.Event) []line {
	var lines []line
	for _, t := range []struct {
		verb string
		said *genai.Transcription
	}{
		{" (transcribed input): ", ev.InputTranscription},
		{" (transcribed output): ", ev.OutputTranscription},
	} {
		if t.said != nil && t.said.Text != "" {
			lines = append(lines, newLine(who+t.verb, t.said.Text))
		}
	}
	return lines
}

// actionLine describes an event without content by its action.
func actionLine(who string, ev *session.Event) line {
	if keys := stateKeys(ev.Actions.StateDelta); len(keys) > 0 {
		return newLine(who+" changes state: ", strings.Join(keys, ", "))
	}
	switch {
	case ev.Actions.TransferToAgent != "":
		return newLine(who+" hands over to: ", label(ev.Actions.TransferToAgent, "unknown"))
	case ev.Actions.Escalate:
		return newLine(who+": ", "(escalates)")
	case ev.Interrupted:
		return newLine(who+": ", "(interrupted)")
	default:
		return newLine(who+": ", noContent)
	}
}

// noContent replaces a part or an event without anything to show.
const noContent = "(no content)"

func orNothing(s string) string {
	if blank(s) {
		return noContent
	}
	return s
}

// stateKeys returns the changed keys in order, except temporary ones.
func stateKeys(delta map[string]any) []string {
	var keys []string
	for _, k := range slices.Sorted(maps.Keys(delta)) {
		if !adk.IsTemp(k) {
			keys = append(keys, k)
		}
	}
	return keys
}

func artifacts(delta map[string]int64) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(delta)) {
		names = append(names, name+" (version "+strconv.FormatInt(delta[name], 10)+")")
	}
	return strings.Join(names, ", ")
}
