package recall

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/quote"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/tokens"
)

// Passage is a stretch of a conversation with something that was found.
type Passage struct {
	Session compaction.SessionRef
	Lines   []Line // in the order of the session
	// Score is that of its best line. Scores of different searches are not to be compared.
	Score float64
}

// tokens is what a passage takes up in a prompt.
func (p Passage) tokens() int {
	n := gapTokens
	for _, line := range p.Lines {
		n += tokens.Estimate(line.String()) + 1
	}
	return n
}

// Line is one event of a passage.
type Line struct {
	// Ref names the event within its session, for recall_turn and [Recaller.Turn]: "m12" is the twelfth
	// stored event, and "m12/2" the second part of one that [Recaller.Turn] cannot return at once.
	Ref string
	// Turn is the number of the user's turn, from 1. It is 0 before the first turn, and where it is not
	// known: the lines of [Recaller.Turn] have none.
	Turn   int
	At     time.Time
	Author string
	// Text is what was said, in one line. Cut says that it is only a part, around the words that were found. Of the line
	// that [Recaller.Turn] is asked for, it says that another part follows.
	Text string
	Cut  bool
	// Found is false for a neighbor of what was found.
	Found bool
}

// String returns the line as a model reads it: "[turn 41, 2026-03-02 14:05, user, m96] Where is my parcel?".
func (l Line) String() string {
	head := ""
	if l.Turn > 0 {
		head = fmt.Sprintf("turn %d, ", l.Turn)
	}
	if !l.At.IsZero() {
		head += l.At.UTC().Format("2006-01-02 15:04") + ", "
	}
	return fmt.Sprintf("[%s%s, %s] %s", head, oneLine(l.Author), l.Ref, l.Text)
}

const (
	hitTokens      = 300 // of the text of an event that was found, around the words that were found
	neighborTokens = 120 // of the text of a neighbor
	// gapTokens is what a passage takes up besides its lines.
	gapTokens = 4
)

// entry is a line at its position.
type entry struct {
	position int
	line     Line
	size     int
}

// passages makes passages of hits, which are in the order of their scores. The best hits come first to the
// room that there is, and the passages are in the order of the session. It also returns how many tokens they
// take up.
func (r *Recaller) passages(ref compaction.SessionRef, question string, hits []index.Hit) ([]Passage, int) {
	words := wordsearch.Ask(question)
	lines := map[int]entry{}
	joined := map[int]bool{} // positions of lines that belong to the one before
	scores := map[int]float64{}
	used := 0
	for _, h := range hits {
		var add []entry
		size := gapTokens
		grow := func(ev *session.Event, position, turn int, found bool) {
			if old, known := lines[position]; known && (old.line.Found || !found) {
				return
			}
			e := entry{position: position, line: r.line(ev, position, turn, words, found)}
			e.size = tokens.Estimate(e.line.String()) + 1
			size += e.size - lines[position].size
			add = append(add, e)
		}
		grow(h.Event, h.Position, h.Turn, true)
		alone := size
		for _, n := range slices.Concat(h.Before, h.After) {
			grow(n.Event, n.Position, n.Turn, false)
		}
		if used+size > r.cfg.MaxTokens && len(add) > 1 {
			add, size = add[:1], alone // without its neighbors
		}
		if used+size > r.cfg.MaxTokens {
			continue // a shorter one may fit
		}
		used += size
		for _, e := range add {
			lines[e.position] = e
		}
		scores[h.Position] = h.Score
		if len(add) > 1 || len(h.Before)+len(h.After) > 0 {
			chain(joined, lines, h)
		}
	}
	var out []Passage
	for _, e := range slices.SortedFunc(values(lines), func(a, b entry) int { return cmp.Compare(a.position, b.position) }) {
		if len(out) == 0 || !joined[e.position] {
			out = append(out, Passage{Session: ref})
		}
		p := &out[len(out)-1]
		p.Lines = append(p.Lines, e.line)
		p.Score = max(p.Score, scores[e.position])
	}
	return out, used
}

// chain notes which lines follow one another: those of a hit and its neighbors, which have nothing between
// them that may be returned.
func chain(joined map[int]bool, lines map[int]entry, h index.Hit) {
	at := make([]int, 0, len(h.Before)+len(h.After)+1)
	for _, n := range h.Before {
		at = append(at, n.Position)
	}
	at = append(at, h.Position)
	for _, n := range h.After {
		at = append(at, n.Position)
	}
	for i := 1; i < len(at); i++ {
		_, before := lines[at[i-1]]
		if _, here := lines[at[i]]; before && here {
			joined[at[i]] = true
		}
	}
}

func values(lines map[int]entry) func(yield func(entry) bool) {
	return func(yield func(entry) bool) {
		for _, e := range lines {
			if !yield(e) {
				return
			}
		}
	}
}

// line makes the line of an event.
func (r *Recaller) line(ev *session.Event, position, turn int, words wordsearch.Question, found bool) Line {
	text := r.text(ev)
	room := neighborTokens
	if found {
		room = hitTokens
	}
	part, cut := excerpt(text, words, room, found)
	return Line{Ref: refOf(position), Turn: turn, At: ev.Timestamp, Author: ev.Author, Text: part, Cut: cut, Found: found}
}

// text returns what may be shown of an event, in one line. Redact sees it twice: as it is stored, and as it
// is shown, because a name across two lines is whole in one line.
func (r *Recaller) text(ev *session.Event) string {
	return shown(wordsearch.Redacted(ev, r.cfg.Redact), r.cfg.Redact)
}

// shown returns a text that redact, which may be nil, has seen as it is stored.
func shown(stored string, redact func(string) string) string {
	text := oneLine(stored)
	if redact != nil {
		text = oneLine(redact(text))
	}
	return text
}

const refMark = "m"

// refMarks are around a reference that a model wrote.
const refMarks = " \t\n[](),.'\"`#"

func refOf(position int) string { return refMark + strconv.Itoa(position+1) }

// positionOf reads a reference, also one that a model wrote with its brackets or in capitals.
func positionOf(ref string) (int, bool) {
	ref = strings.ToLower(strings.Trim(ref, refMarks))
	n, err := strconv.Atoi(strings.TrimPrefix(ref, refMark))
	return n - 1, err == nil && n > 0 && strings.HasPrefix(ref, refMark)
}

// frames are what begins a frame, ours or that of a summary, or a line of ours. A message that holds such
// words must not look like the end of the quotation, or like another message.
var frames = quote.FramesOf(append([]string{"endof", "turn#", "####-##-##", "earliermessages"}, quote.SummaryFrames...)...)

// oneLine returns a text without line breaks, control characters, characters that are shown as nothing, and
// frames.
func oneLine(text string) string {
	var before rune
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
			r = ' '
		case unicode.IsControl(r), quote.Invisible(r) && !joins(before, r):
			return -1
		}
		before = r
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return frames.Unframe(strings.Join(strings.Fields(text), " "))
}

// joins reports whether an invisible character changes the one before it, as in Persian words and in emoji.
func joins(before, r rune) bool {
	const firstOfOthers = '\u0300' // behind the Latin letters
	return (r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f') &&
		before >= firstOfOthers && (unicode.IsLetter(before) || unicode.IsMark(before) || unicode.In(before, unicode.So, unicode.Sk))
}

const ellipsis = "…"

// excerpt returns at most so many tokens of a text: its beginning, or, for what was found, the part around
// the words of the question.
func excerpt(text string, words wordsearch.Question, room int, found bool) (part string, cut bool) {
	if tokens.Estimate(text) <= room {
		return text, false
	}
	begin := 0
	if found {
		begin = words.First(text)
	}
	// A token has about four bytes. Begin with that, and take away until it fits.
	length := 4 * room
	from := max(0, begin-length/4)
	for {
		part = slice(text, from, from+length)
		if tokens.Estimate(part) <= room-2 || length <= 16 {
			break
		}
		length = length * 4 / 5
		from = max(0, begin-length/4)
	}
	if from > 0 {
		part = ellipsis + part
	}
	if from+length < len(text) {
		part += ellipsis
	}
	return part, true
}

// slice returns text[from:to] with both ends moved to the beginning of a character.
func slice(text string, from, to int) string {
	from, to = min(from, len(text)), min(to, len(text))
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && to > from && !utf8.RuneStart(text[to]) {
		to--
	}
	return strings.TrimSpace(text[from:to])
}
