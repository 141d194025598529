package values

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/internal/recalled"
	"github.com/adk-go-ext/longsession/internal/terms"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Bounds of what one call reads and returns. They are far above those of a window that a summarizer can read.
const (
	maxTalk      = 2 << 20  // bytes of messages
	maxTools     = 1 << 20  // bytes of calls and responses
	maxResponse  = 64 << 10 // bytes of one call or response
	maxPerResult = 40       // values of one call or response: a listing of files has hundreds
	maxDepth     = 32       // of arguments and responses
)

// Of returns the values of events, the best first. Redact, if not nil, sees each text before values are taken from
// it, and each value once more; a value that it changes is left out unless what is left is the value. Thoughts, notes of other layers, records, and
// calls of recall tools are skipped. answers are messages that answer a question for a secret: what may be one is left out.
func Of(events []*session.Event, answers map[*session.Event]bool, redact func(string) string) []record.Value {
	r := reader{answers: answers, redact: redact, seen: map[string]int{}, docs: map[string]int{}, talk: maxTalk, tools: maxTools}
	for _, ev := range events {
		if ev != nil && !record.Is(ev) {
			r.event(ev)
		}
	}
	for i := range r.out {
		r.out[i].Score = r.score(&r.out[i], r.weights[i])
	}
	slices.SortFunc(r.out, better)
	return r.out
}

// reader collects the values of a window.
type reader struct {
	answers     map[*session.Event]bool
	redact      func(string) string
	find        finder
	out         []record.Value
	weights     []float64      // of out: of the place where each value was found
	seen        map[string]int // positions in out by key
	docs        map[string]int // how many messages have a term
	messages    int
	talk, tools int // bytes left
}

func (r *reader) event(ev *session.Event) {
	var said []string
	for _, p := range recalled.Without(ev) {
		switch {
		case p == nil || p.Thought:
		case p.FunctionCall != nil:
			r.object(ev, p.FunctionCall.Args, weightCall)
		case p.FunctionResponse != nil:
			r.object(ev, notes.Without(p.FunctionResponse.Response), weightTool)
		case p.Text != "" && !notes.IsPart(p):
			said = append(said, p.Text)
		}
	}
	text, spoken := adk.Transcribed(ev)
	if text == "" {
		text = strings.Join(said, "\n")
	}
	if text = clipWords(text, r.talk); r.answers[ev] {
		text = WithoutSecrets(text, true)
	}
	if text == "" {
		return
	}
	r.talk -= len(text)
	r.messages++
	distinct := map[string]bool{}
	for _, term := range terms.Terms(text) {
		if !distinct[term] {
			distinct[term] = true
			r.docs[term]++
		}
	}
	weight := 1.0
	if spoken || ev.Author == "user" {
		weight = weightUser
	}
	r.text(ev, text, weight, "", math.MaxInt)
}

// object reads the texts and the numbers of a call or a response.
func (r *reader) object(ev *session.Event, object map[string]any, weight float64) {
	o := objectReader{reader: r, ev: ev, weight: weight, left: min(maxResponse, r.tools), values: maxPerResult, fields: maxFields}
	before := o.left
	o.leaves(object, "", 0)
	r.tools -= before - o.left
}

// objectReader reads one call or response.
type objectReader struct {
	*reader
	ev     *session.Event
	weight float64
	// left are bytes, values all values, and fields those that are named by their fields, each that may still be read.
	left, values, fields int
}

// leaves reads the value of the field key.
func (o *objectReader) leaves(value any, key string, depth int) {
	if o.left <= 0 || o.values <= 0 || depth > maxDepth {
		return
	}
	switch v := value.(type) {
	case string:
		text := clipWords(v, o.left)
		o.left -= len(text) + 1
		if inner, ok := inText(text); ok {
			o.left += len(text) // the texts in it count instead
			o.leaves(inner, key, depth+1)
			return
		}
		if !o.named(strings.TrimSpace(text), key) {
			o.values -= o.text(o.ev, text, o.weight, markTool, o.values)
		}
	case map[string]any:
		o.left--
		secret := namesSecret(v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if !isSecretKey(k) && !(secret && strings.EqualFold(k, "value")) && !secretNear(fieldPath(key, k)) {
				o.leaves(v[k], k, depth+1)
			}
		}
	case []any:
		o.left--
		if len(v) > maxRows {
			defer func(fields int) { o.fields = fields }(o.fields)
			o.fields = 0
		}
		for _, one := range v {
			if o.left <= 0 || o.values <= 0 {
				return
			}
			o.leaves(one, key, depth+1)
		}
	default:
		o.left -= 8
		if text, ok := numberText(v); ok {
			o.named(text, key)
		}
	}
}

// named adds a text that is only a value which needs the name of its field, and reports whether it is one.
func (o *objectReader) named(text, key string) bool {
	if o.fields <= 0 || secretNear(text) || o.redact != nil && o.redact(text) != text {
		return false
	}
	name := field(key)
	if name == "" {
		return false
	}
	kind := fieldKind(text, name)
	if kind == "" {
		return false
	}
	n := o.add(o.ev, text, o.find.field(kind, name, text), o.weight, markTool, o.values)
	o.fields, o.values = o.fields-n, o.values-n
	return true
}

// text adds the values of a text, at most limit, and returns how many.
func (r *reader) text(ev *session.Event, text string, weight float64, mark string, limit int) int {
	redacted := text
	if r.redact != nil {
		redacted = r.redact(text)
	}
	redacted = strings.ToValidUTF8(redacted, " ")
	if mark != "" {
		text, redacted = withoutEscapes(text), withoutEscapes(redacted)
	}
	return r.add(ev, text, r.find.find(redacted, mark != ""), weight, mark, limit)
}

// escapes are those of a terminal and of a text within a text, which would stick to the word behind them.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*m|\\[nrt]`)

func withoutEscapes(text string) string {
	if !strings.ContainsAny(text, "\x1b\\") || strings.Contains(text, `:\`) { // C:\new is a path
		return text
	}
	return escapes.ReplaceAllString(text, " ")
}

// add adds values that were found in a text, at most limit, and returns how many. What a redaction has put there is
// none of them.
func (r *reader) add(ev *session.Event, text string, values []found, weight float64, mark string, limit int) int {
	n := 0
	for _, f := range values {
		if n == limit {
			break
		}
		if r.redact != nil && f.field == "" {
			if !hasWords(text, f.core) {
				continue // a mark of the redaction
			}
			f.context = wordsOf(f.context, text)
		}
		v := record.Value{Text: clean(f.text()), Kind: f.kind + mark, Author: ev.Author, Event: ev.ID, At: ev.Timestamp}
		if v.Text == "" || !withoutMarks(&v, clean(f.core), r.redact) {
			continue
		}
		n++
		r.note(v, weight*weights[plain(f.kind)])
	}
	return n
}

// Redacted returns values that were stored before, as redact has them now: without those that it changes, unless it
// leaves the value itself as it is. A mark that it puts in the place of a word is no part of a value.
func Redacted(stored []record.Value, redact func(string) string) []record.Value {
	if redact == nil {
		return stored
	}
	var out []record.Value
	for _, v := range stored {
		_, core := parts(&v)
		if withoutMarks(&v, core, redact) {
			out = append(out, v)
		}
	}
	return out
}

// withoutMarks redacts a value's text, and takes out what the redaction put there. It reports whether the value
// itself, its core, is left.
func withoutMarks(v *record.Value, core string, redact func(string) string) bool {
	if redact == nil {
		return true
	}
	after := clean(redact(v.Text))
	if after == v.Text {
		return true
	}
	before, whole := strings.CutSuffix(after, core)
	if !whole || plain(v.Kind) == kindOwn || clean(redact(core)) != core {
		return false
	}
	before = wordsOf(before, strings.TrimSuffix(v.Text, core))
	v.Text = strings.TrimSpace(before + " " + core)
	return clean(redact(v.Text)) == v.Text
}

// wordsOf returns the words of a text that another one has.
func wordsOf(text, other string) string {
	var words []string
	for word := range strings.FieldsSeq(text) {
		if hasWords(other, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// note adds a value, or notes that it was mentioned again.
func (r *reader) note(v record.Value, weight float64) {
	k := key(&v)
	i, known := r.seen[k]
	if !known {
		r.seen[k] = len(r.out)
		r.out, r.weights = append(r.out, v), append(r.weights, weight)
		return
	}
	old := &r.out[i]
	uses := old.Uses
	if old.Event != v.Event || !old.At.Equal(v.At) {
		uses++
	}
	*old = newer(*old, v)
	old.Uses = uses
	r.weights[i] = max(r.weights[i], weight)
}

// score is how much a value is worth for each of its tokens.
func (r *reader) score(v *record.Value, weight float64) float64 {
	n := float64(max(r.messages, 40))
	idf := 0.0
	for _, term := range terms.Terms(v.Text) {
		df := float64(r.docs[term])
		idf += math.Log(1 + (n-df+.5)/(df+.5))
	}
	return weight * math.Sqrt(max(idf, .5)) / float64(cost(v))
}

// cost is the tokens of a value in a block, with what separates it from the next.
func cost(v *record.Value) int { return tokens.Estimate(v.Text) + 1 }

// clean returns a text in one line, without signs that a block has between values.
func clean(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '|' || r >= 0x7f }) && !strings.Contains(text, "  ") {
		return strings.TrimSpace(text)
	}
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case r == '|', r == '¦', r == '｜':
			r = '/'
		case isSpace(r):
			space = true
			continue
		case hidden(r):
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return b.String()
}

func isSpace(r rune) bool {
	return r == ' ' || r < ' ' || r >= 0x7f && r <= 0xa0 || r == '\u2028' || r == '\u2029' || r == '\u3000' || r >= '\u2000' && r <= '\u200a' || r == '\u202f' || r == '\u205f' || r == '\u1680'
}

// hidden reports whether a character is shown as nothing, or turns the direction of what follows.
func hidden(r rune) bool {
	return r == utf8.RuneError || r > unicode.MaxASCII && unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) || r >= 0xE0000 && r <= 0xE0FFF
}

// better orders values by what they are worth, and by more where that is equal, so that the order is the same
// everywhere.
func better(a, b record.Value) int {
	return cmp.Or(cmp.Compare(worth(&b), worth(&a)), a.At.Compare(b.At), cmp.Compare(a.Event, b.Event), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Kind, b.Kind))
}

const (
	weightUse = .3 // of each later mention
	maxUses   = 3
)

func worth(v *record.Value) float64 {
	if math.IsNaN(v.Score) || math.IsInf(v.Score, 0) {
		return 0
	}
	return v.Score * (1 + weightUse*float64(min(max(v.Uses, 0), maxUses)))
}
