// Package said keeps what the user said, word for word, for prompts in which a summary stands for the messages. A model
// that writes a summary puts instructions and corrections into words of its own, and they are a small part of what an
// agent reads, so they can simply be kept.
package said

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
)

// A record keeps as many bytes of one message, and of all. Longer messages are mostly pasted.
const maxText, maxTexts = 8 << 10, 64 << 10

// Of returns what the user said in events, in their order. It leaves out what no person wrote, and sentences that may hold
// a secret. answers are the events that [Answers] returns. person, if not nil, decides which messages a person wrote. redact,
// if not nil, sees each text.
func Of(events []*session.Event, answers map[*session.Event]bool, person func(*session.Event) bool, redact func(string) string) (texts []record.Value) {
	if person == nil {
		person = isPerson
	}
	for _, ev := range events {
		class := adk.Classify(ev)
		if !class.Is(adk.Speaks) || record.Is(ev) {
			continue
		}
		text, spoken := words(ev)
		if text == "" {
			continue
		}
		text = ends(text)
		if spoken || class.Is(adk.ByUser|adk.Message) && person(ev) {
			if text := publish(text, redact, answers[ev]); text != "" {
				texts = append(texts, record.Value{Text: text, Event: record.Normalize(ev.ID), At: ev.Timestamp})
			}
		}
	}
	return texts
}

// words returns what is said in an event, and whether the user said it aloud.
func words(ev *session.Event) (text string, spoken bool) {
	if text, spoken = adk.Transcribed(ev); text == "" {
		text = written(ev)
	}
	return text, spoken
}

// Answers returns those of some events that are said right after a question for a secret, and whether the events end with
// such a question. asked says that what was said before them asks so. A question may also be among those that are shown
// before them and stay raw, unless it is from before since: that one was answered long ago.
func Answers(events []*session.Event, asked bool, shown []*session.Event, since time.Time) (answers map[*session.Event]bool, asks bool) {
	own := make(map[*session.Event]bool, len(events))
	for _, ev := range events {
		if ev != nil {
			own[ev] = true
		}
	}
	answers = map[*session.Event]bool{}
	left := len(own) // a long view must not be walked for each window
	var raw *session.Event
	for i, ev := range shown {
		if !own[ev] {
			continue
		}
		if i > 0 && !own[shown[i-1]] {
			raw = spokenBefore(shown[:i])
		}
		if text, _ := words(ev); text != "" {
			if raw != nil && !own[raw] && !raw.Timestamp.Before(since) {
				asks, _ := words(raw)
				answers[ev] = values.Announces(asks)
			}
			raw = nil
		}
		if left--; left == 0 {
			break
		}
	}
	for _, ev := range events {
		if ev == nil || !adk.Classify(ev).Is(adk.Speaks) || record.Is(ev) {
			continue
		}
		if text, _ := words(ev); text != "" {
			answers[ev] = answers[ev] || asked
			asked = values.Announces(ends(text))
		}
	}
	return answers, asked
}

// spokenBefore returns the last of some events that has words, nil if none has.
func spokenBefore(events []*session.Event) *session.Event {
	for _, ev := range slices.Backward(events) {
		if ev == nil {
			continue
		}
		if text, _ := words(ev); text != "" {
			return ev
		}
	}
	return nil
}

// written returns the texts of a message.
func written(ev *session.Event) string {
	if ev.Content == nil {
		return ""
	}
	var texts []string
	for _, p := range ev.Content.Parts {
		if p != nil && p.Text != "" && !p.Thought && !notes.IsPart(p) {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Holds reports whether a text that was taken from a message is still that of the message. An app may have a function that
// takes words out, so half of the words must be there.
func Holds(ev *session.Event, text string) bool {
	message, spoken := adk.Transcribed(ev)
	if !spoken {
		if message = written(ev); ev.Author != "user" {
			return false
		}
	}
	message = plain(message)
	has := map[string]bool{}
	for word := range strings.FieldsSeq(message) {
		has[word] = true
	}
	known, all := 0, 0
	for _, fragment := range strings.Split(strings.ReplaceAll(text, values.LeftOut, CutMark), CutMark) {
		whole := strings.Contains(message, strings.TrimSpace(fragment)) // a cut may be within a word
		for word := range strings.FieldsSeq(fragment) {
			if all++; whole || has[word] {
				known++
			}
		}
	}
	return all > 0 && known*2 >= all
}

// Redacted returns the texts of an earlier record as redact leaves them, all of them if it is nil.
func Redacted(stored []record.Value, redact func(string) string) []record.Value {
	if redact == nil {
		return stored
	}
	var out []record.Value
	for _, s := range stored {
		if s.Text = publish(s.Text, redact, false); s.Text != "" {
			out = append(out, s)
		}
	}
	return out
}

// publish returns what may be stored and shown of a text, "" for nothing. announced says that it may begin with a secret.
func publish(text string, redact func(string) string, announced bool) string {
	if redact != nil {
		text = redact(text)
	}
	text = values.WithoutSecrets(strings.TrimSpace(plain(text)), announced)
	if isTrivial(text) || isCode(text) {
		return ""
	}
	return shorten(text, maxText)
}

// sentenceEnds end a sentence, whatever follows.
var sentenceEnds = []string{"\n", ". ", "! ", "? ", "。", "！", "？"}

// ends returns a text of at most four times maxText: no more is looked at, whatever a message holds. It leaves out whole
// sentences, because half of one may not tell that it holds a secret.
func ends(text string) string {
	const most = 4*maxText - len(CutMark)
	if len(text) <= most {
		return text
	}
	head, tail := text[:most*2/3], text[len(text)-most/3:]
	to, from := 0, len(tail)
	for _, end := range sentenceEnds {
		if at := strings.LastIndex(head, end); at >= 0 {
			to = max(to, at+len(end))
		}
		if at := strings.Index(tail, end); at >= 0 {
			from = min(from, at+len(end))
		}
	}
	if head, tail = head[:to], tail[from:]; head+tail == "" {
		return ""
	}
	return head + CutMark + tail
}

// plain returns a text in valid UTF-8, without characters that are not shown.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\t':
			return r
		case '\r', '\u2028', '\u2029':
			return '\n'
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// CutMark stands for the middle of a text that is shown in part.
const CutMark = " (... cut ...) "

// shorten returns a text of at most that many bytes: two thirds of its beginning and a third of its end.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	room := max(0, most-len(CutMark))
	head, tail := room*2/3, len(text)-room/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + CutMark + text[tail:]
}

// isPerson reports whether a message has no form of those that programs write in the user's name: command output and
// notices between tags, notes in brackets, and the text with which an app goes on in a new session.
func isPerson(ev *session.Event) bool {
	for _, p := range ev.Content.Parts {
		if p == nil || p.Text == "" {
			continue
		}
		text := strings.TrimSpace(p.Text)
		switch {
		case strings.HasPrefix(text, "<") && isTag(text):
		case strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") && strings.Count(text, "[") == 1:
		case strings.HasPrefix(text, "This session is being continued from a previous conversation"):
		default:
			return true
		}
	}
	return false
}

// isTag reports whether a text begins with a tag that is closed later on. Where a person may have written such a tag, as in
// HTML, nothing may follow the last one.
func isTag(text string) bool {
	name, rest, found := strings.Cut(text[1:], ">")
	name, _, _ = strings.Cut(name, " ")
	if !found || name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' }) {
		return false
	}
	return strings.Contains(rest, "</"+name+">") && (strings.ContainsAny(name, "-_") || strings.HasSuffix(text, ">"))
}

// Merge unites what several records have, in the order of time and each message once. Of messages with the same text it keeps
// the newest: what a program repeats in every turn must not displace the rest. Where that is too much to store, the first
// message stays, then what instructs, the newest first, then the rest.
func Merge(lists ...[]record.Value) []record.Value {
	var all []record.Value
	known := map[string]bool{}
	for _, list := range lists {
		for _, s := range list {
			key := s.Event + "\x00" + s.Text
			if s.Event != "" {
				key = s.Event
			}
			if !known[key] {
				known[key] = true
				all = append(all, s)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b record.Value) int { return a.At.Compare(b.At) })
	return choose(newest(all), maxTexts, func(s *record.Value) int { return len(s.Text) + overhead })
}

// newest returns texts without those that were said again later.
func newest(all []record.Value) []record.Value {
	last := map[string]int{}
	for i, s := range all {
		last[s.Text] = i
	}
	var out []record.Value
	for i, s := range all {
		if last[s.Text] == i {
			out = append(out, s)
		}
	}
	return out
}

// Fewer returns at most half of the bytes of texts that [Merge] has returned, by the same choice.
func Fewer(all []record.Value) []record.Value {
	size := 0
	for _, s := range all {
		size += len(s.Text)
	}
	return choose(all, size/2, func(s *record.Value) int { return len(s.Text) })
}

// overhead is what a message takes up beside its text, in bytes, so that there are not more than a record may have.
const overhead = 64

// choose returns as many texts as there is room for, in their order.
func choose(all []record.Value, room int, size func(*record.Value) int) []record.Value {
	needed := 0
	for i := range all {
		needed += size(&all[i])
	}
	if needed <= room { // ranking reads each text
		return all
	}
	keep := make([]bool, len(all))
	for _, i := range ranked(all) {
		if n := size(&all[i]); n <= room {
			keep[i], room = true, room-n
		}
	}
	var out []record.Value
	for i, s := range all {
		if keep[i] {
			out = append(out, s)
		}
	}
	return out
}

// ranked returns the positions of texts, the most important first.
func ranked(all []record.Value) []int {
	var first, instructs, rest []int
	for i := range slices.Backward(all) {
		switch {
		case i == 0:
			first = append(first, i)
		case Instructs(all[i].Text):
			instructs = append(instructs, i)
		default:
			rest = append(rest, i)
		}
	}
	return slices.Concat(first, instructs, rest)
}
