package writer

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/kept"
	"github.com/adk-go-ext/longsession/internal/said"
	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/summarizer"
)

// leastKept is the share of its window's values below which a summary is asked for once more. Recorded summaries of a
// frontier model hold a fifth of them alone and a half with the ledger. So less is kept only where a summary says next to
// nothing and the ledger has had to give way.
const leastKept = .2

// writing is one summary that a summarizer writes, in one try or in two.
type writing struct {
	a        *Assignment
	by       Summarizer
	asked    summarizer.Request
	attempts *learned.Attempts
	ends     time.Time
	again    bool // it was asked for a second time
	result   summarizer.Result
	wording  string       // what the model has read beside the record
	source   *kept.Source // nil until a text is checked
	redacted bool         // the source has what the app's function makes of its texts
}

// ask has the summary written, and adds to the result what that used. The text is not worthless.
func (w *writing) ask(ctx context.Context, again string) (string, error) {
	req := w.asked // a summarizer may change what it is given; its answer is judged by what that was
	req.Again = again
	req.Summaries, req.Events = append([]string(nil), w.asked.Summaries...), make([]*session.Event, len(w.asked.Events))
	for i, ev := range w.asked.Events {
		req.Events[i] = adk.DeepCopy(ev)
	}
	got, text, err := ask(ctx, w.by, req, w.a, w.ends, w.attempts)
	w.wording = got.wording
	w.spent(got.result)
	if err != nil {
		return "", err
	}
	if w.a.sizeOf(text) < w.a.Window.Tokens { // otherwise it is declined, whatever its content
		if err := summarizer.Check(w.asked, text); err != nil {
			return "", err
		}
	}
	return text, nil
}

// spent adds what a try used.
func (w *writing) spent(result summarizer.Result) {
	calls := func(r *summarizer.Result) int {
		if r.Calls == 0 && r.Usage.Total() > 0 {
			return 1
		}
		return r.Calls
	}
	sum := result
	if w.again {
		first := &w.result
		sum.Usage, sum.Estimated, sum.Calls = first.Usage.Add(result.Usage), first.Estimated.Add(result.Estimated), calls(first)+calls(&result)
		sum.Model = first.Model
	}
	w.result = sum
}

// mayAskAgain reports whether a second try may be made. A window that was read in several calls costs as many again.
func (w *writing) mayAskAgain(ctx context.Context) bool {
	return !w.again && w.result.Calls <= 1 && w.attempts.Heeds() && ctx.Err() == nil && time.Now().Before(w.ends)
}

// askAgain makes the second try. It returns "" where that leads to nothing.
func (w *writing) askAgain(ctx context.Context, again string) string {
	w.again = true
	text, err := w.ask(ctx, again)
	if err != nil || w.a.sizeOf(text) >= w.a.Window.Tokens {
		return ""
	}
	return text
}

// draft makes the draft of a text. What a model wrote is checked before, and how much of its window's values it keeps is
// measured.
func (w *writing) draft(ctx context.Context, text string) (*Draft, error) {
	a := w.a
	if a.Extractive || w.result.Model == "" || a.sizeOf(text) >= a.Window.Tokens {
		return w.finish(ctx, text)
	}
	a.measures = true
	text, invented, err := w.borneOut(ctx, text)
	if err != nil {
		return nil, err
	}
	d, err := w.finish(ctx, text)
	if err != nil {
		return nil, err
	}
	missing := d.measure(a)
	if d.kept() >= leastKept || len(missing) == 0 || a.Shorter > 0 || !w.mayAskAgain(ctx) {
		d.Meta.Invented = invented
		return d, nil
	}
	other := d
	if second := w.askAgain(ctx, sayMissing(missing)); second != "" && len(w.check(ctx, second).Findings) == 0 {
		if made, err := w.finish(ctx, second); err == nil {
			other = made
			other.measure(a)
		}
	}
	w.attempts.AskedAgain(other.kept() >= leastKept)
	if other.kept() > d.kept() {
		return other, nil
	}
	d.use(w.result)
	return d, nil
}

// use notes in the record what the calls for it used.
func (d *Draft) use(result summarizer.Result) {
	usage := Believable(result.Usage)
	d.Meta.Usage = record.Usage{PromptTokens: usage.PromptTokens, OutputTokens: usage.OutputTokens}
}

// measure notes which share of the window's values the view has with the draft: in the summary, and behind it as far as the
// record lets them be shown. It returns those that the view does not have.
func (d *Draft) measure(a *Assignment) (missing []string) {
	if a.taken == nil {
		return nil // no ledger
	}
	m := d.Meta
	words := said.Block(m.SaidTokens, m.Said)
	share, missing, measured := kept.Share(a.taken.best, d.Text, words, values.Block(m.LedgerTokens, []string{d.Text, words}, m.Values))
	if measured {
		share = math.Round(share*1e4) / 1e4
		m.Kept = &share
	}
	return missing
}

// kept is the share that was measured, 1 if none was.
func (d *Draft) kept() float64 {
	if d.Meta.Kept == nil {
		return 1
	}
	return *d.Meta.Kept
}

// borneOut returns the text without what its window does not bear out, and how many values were cut out of it. The model
// is asked once more, if it may be; what is invented then, too, is cut out. The error says that too little is left.
func (w *writing) borneOut(ctx context.Context, text string) (string, int, error) {
	found := w.check(ctx, text)
	if len(found.Findings) == 0 {
		return text, 0, nil
	}
	if w.mayAskAgain(ctx) {
		all := len(found.Findings)
		if second := w.askAgain(ctx, sayInvented(found)); second != "" {
			if other := w.check(ctx, second); len(other.Findings) < all {
				text, found = second, other
			}
		}
		w.attempts.AskedAgain(len(found.Findings) < all)
	}
	if len(found.Findings) == 0 {
		return text, 0, nil
	}
	left := found.Without()
	if err := summarizer.Check(w.asked, left); err != nil {
		return "", 0, fmt.Errorf("without %d values that are not in its window: %w", len(found.Values()), err)
	}
	if len(w.check(ctx, left).Findings) > 0 {
		return "", 0, fmt.Errorf("%w: its values are not those of its window", summarizer.ErrUnusable)
	}
	return left, len(found.Values()), nil
}

// check looks for what the window does not bear out.
func (w *writing) check(ctx context.Context, text string) *kept.Verdict {
	if w.source == nil {
		w.source = w.sources()
	}
	found := w.source.Check(text)
	if len(found.Findings) > 0 && w.a.Ledger.Values.redacts() && !w.redacted {
		if err := w.a.Ledger.Values.redacted(ctx, w.asked, w.source); err != nil {
			return &kept.Verdict{} // what the function would have made of the texts, nobody knows
		}
		w.redacted = true
		found = w.source.Check(text)
	}
	return found
}

// sources is what the writer of the summary has read, and what is known of the summaries that it replaces.
func (w *writing) sources() *kept.Source {
	texts := append([]string{w.asked.Focus, w.asked.Note, w.wording}, w.asked.Summaries...)
	for _, m := range w.a.Window.Absorb {
		for _, v := range m.Values {
			texts = append(texts, v.Text)
		}
		for _, s := range m.Said {
			texts = append(texts, s.Text)
		}
	}
	return kept.NewSource(w.asked.Events, texts...)
}

// Bounds of what a second try is told.
const (
	mostNamed = 5
	maxNamed  = 60 // bytes of one value
)

// sayInvented is what a second try is told about the first.
func sayInvented(v *kept.Verdict) string {
	var invented, turned []string
	for _, f := range v.Findings {
		if f.Turned {
			turned = append(turned, f.Value)
		} else {
			invented = append(invented, f.Value)
		}
	}
	var says []string
	if len(invented) > 0 {
		says = append(says, "these values are not in the record: "+names(invented))
	}
	if len(turned) > 0 {
		says = append(says, "the record says the opposite of: "+names(turned))
	}
	return strings.Join(says, "; ")
}

// sayMissing is what a second try is told about values that the first has left out.
func sayMissing(missing []string) string { return "it leaves out values such as " + names(missing) }

// names returns the first of some values, each once.
func names(values []string) string {
	var out []string
	known := map[string]bool{}
	for _, v := range values {
		if known[v] || len(out) == mostNamed {
			continue
		}
		known[v] = true
		if len(v) > maxNamed {
			v = strings.ToValidUTF8(v[:maxNamed], "") + "..."
		}
		out = append(out, v)
	}
	return strings.Join(out, ", ")
}
