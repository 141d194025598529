package summarizer

import (
	"context"
	"strings"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/tokens"
)

// digest builds the extractive summary of one window in two steps: read collects sentences in the
// pool and tool calls in the log, and write spends the token budget on them.
type digest struct {
	req     Request
	left    int // tokens
	opening string
	pool    *pool
	tools   toolLog
}

const openingPrefix = "Opening request: "

func (d *digest) read(ctx context.Context) error {
	// Every line begins with its speaker. The name and the colon take about three tokens.
	d.pool = newPool(d.left, 3, d.req.Focus)
	openingShare := max(d.left/4, min(d.left/2, 60), min(d.left, 16))
	for i, ev := range d.req.Events {
		if err := ctx.Err(); err != nil {
			return err
		}
		if ev == nil {
			continue
		}
		d.tools.add(ev)
		said := false
		for _, s := range spoken(ev) {
			said = true
			skip := 0
			if d.opening == "" && s.user && s.weight == userWeight && !blank(s.text) {
				d.opening, skip = leading(s.text, openingShare)
			}
			d.pool.add(s.text, skip, i, s.weight)
		}
		if !said && !hasParts(ev) {
			d.offerAction(i, ev)
		}
	}
	return nil
}

// offerAction offers the action of an event without text, such as "changes state: cart".
func (d *digest) offerAction(group int, ev *session.Event) {
	for _, l := range eventLines(ev, nil) {
		if l.value != noContent {
			d.pool.offer(strings.TrimPrefix(l.text(floorCap), speaker(ev)+" "), group, toolWeight)
		}
	}
}

func hasParts(ev *session.Event) bool { return ev.Content != nil && len(ev.Content.Parts) > 0 }

// leading returns the first sentences of text that fit into budget tokens, and their number. If the
// first sentence alone is too long, it returns the beginning of that sentence and 0.
func leading(text string, budget int) (taken string, count int) {
	for s := range sentences(text) {
		s = escape(s)
		longer := strings.TrimSpace(taken + " " + s)
		if tokens.Estimate(openingPrefix+longer)+lineBreak > budget {
			break
		}
		taken = longer
		count++
	}
	if count > 0 {
		return taken, count
	}
	for s := range sentences(text) {
		return cutTo(escape(s), budget-tokens.Estimate(openingPrefix)-lineBreak), 0
	}
	return "", 0
}

func (d *digest) write() string {
	var lines []string
	emit := func(line string) {
		if cost := tokens.Estimate(line) + lineBreak; line != "" && cost <= d.left {
			lines = append(lines, line)
			d.left -= cost
		}
	}
	if d.opening != "" {
		emit(openingPrefix + d.opening)
	}
	if !blank(d.req.Note) {
		emit("Note: " + cutTo(quote(d.req.Note, maxRemark), d.left/4))
	}
	if earlier := condense(d.req.Summaries, d.left/2, d.req.Focus); earlier != "" {
		emit("Earlier:\n" + earlier)
	}
	emit(wholeResults(d.whole(strings.Join(lines, "\n")), max(d.left/4, min(d.left*6/10, oneRef))))
	kept, _ := d.pool.take(d.left - d.toolShare())
	for _, line := range joinGroups(kept, func(i int) string { return label(d.req.Events[i].Author, "unknown") + ": " }) {
		emit(line)
	}
	emit(d.tools.render(d.left))
	if len(lines) == 0 {
		return d.lastResort()
	}
	return strings.Join(lines, "\n")
}

// oneRef is the number of tokens that the line of a single reference takes at most, if the tool's name is
// not long.
const oneRef = 40

// whole returns the results that can be read whole, first those of earlier summaries that the text so far
// lacks.
func (d *digest) whole(text string) []wholeResult {
	var results []wholeResult
	for _, s := range d.req.Summaries {
		for _, ref := range refPattern.FindAllString(s, -1) {
			if !strings.Contains(text, ref) {
				results = append(results, wholeResult{ref: ref})
			}
		}
	}
	return append(results, d.tools.whole...)
}

// toolShare returns the number of tokens reserved for the list of tool calls: up to a third of what
// is left, or up to 60% if the bare tool names need that much.
func (d *digest) toolShare() int {
	if len(d.tools.calls) == 0 {
		return 0
	}
	names := tokens.Estimate(d.tools.names()) + lineBreak
	text := d.tools.render(max(d.left/3, min(names, d.left*6/10)))
	return tokens.Estimate(text) + lineBreak
}

// lastResort returns the beginning of the transcript. It is used for windows without a sentence
// that fits.
func (d *digest) lastResort() string {
	if d.opening != "" {
		return d.opening
	}
	if earlier := condense(d.req.Summaries, d.left, d.req.Focus); earlier != "" {
		return earlier
	}
	if len(d.tools.calls) > 0 {
		return d.tools.names()
	}
	for _, ev := range d.req.Events {
		for _, l := range eventLines(ev, nil) {
			if l.value != noContent {
				return l.text(floorCap)
			}
		}
	}
	return noContent
}

// cutTo returns the beginning of text. It has at most budget tokens, but at least one character.
func cutTo(text string, budget int) string {
	budget = max(budget, 1)
	if len(text) > 64*(budget+1) {
		// No text of this length has so few tokens, so drop the rest to keep the search fast.
		text = text[:runeOffset(text, 64*(budget+1))]
	}
	if tokens.Estimate(text) <= budget {
		return text
	}
	const ellipsis = "…"
	low, high := 1, utf8.RuneCountInString(text)
	for high-low > 1 {
		if mid := low + (high-low)/2; tokens.Estimate(text[:runeOffset(text, mid)]+ellipsis) <= budget {
			low = mid
		} else {
			high = mid
		}
	}
	cut := text[:runeOffset(text, low)]
	if marked := strings.TrimRight(cut, " ") + ellipsis; tokens.Estimate(marked) <= budget {
		return marked
	}
	return cut
}
