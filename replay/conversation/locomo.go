package conversation

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genai"
)

// isLocomo reports whether an object is a conversation of two people in numbered sessions.
func isLocomo(line object) bool {
	if isConversation(line) {
		return false
	}
	if talk := line["conversation"]; talk.is('{') {
		fields, err := talk.object("conversation")
		return err == nil && len(sessionNumbers(fields)) > 0
	}
	return len(sessionNumbers(line)) > 0 && len(line["speakera"].json) > 0
}

// sessionNumbers are the numbers of the lists session_1, session_2 and so on, in order.
func sessionNumbers(fields object) []int {
	var numbers []int
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		digits, ok := strings.CutPrefix(name, "session")
		if n, err := strconv.Atoi(digits); ok && err == nil && n >= 0 && fields[name].is('[') {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// readLocomo reads a conversation of two people. The first speaker becomes the user, the second the
// agent.
func readLocomo(fields object) (*recording, error) {
	rec := &recording{}
	var err error
	if rec.id, err = name(firstOf(fields["sampleid"], fields["id"])); err != nil {
		return rec, err
	}
	talk := fields
	if v := fields["conversation"]; v.is('{') {
		if talk, err = v.object("conversation"); err != nil {
			return rec, err
		}
	}
	speakers := map[string]speaker{}
	for i, field := range []string{"speaker_a", "speaker_b"} {
		named, err := talk[fold(field)].text(field)
		if err != nil {
			return rec, err
		}
		if _, known := speakers[named]; named != "" && !known {
			speakers[named] = []speaker{user, agent}[i]
		}
	}
	l := locomo{rec: rec, speakers: speakers}
	for _, n := range sessionNumbers(talk) {
		key := "session_" + strconv.Itoa(n)
		if err := l.readSession(key, talk[fold(key)], talk[fold(key+"_date_time")]); err != nil {
			return rec, err
		}
	}
	for _, who := range slices.Sorted(maps.Keys(l.counts)) {
		rec.notes.add("messages of "+who+", read as the "+[]string{"user", "agent"}[speakers[who]]+"'s", l.counts[who])
	}
	return rec, rec.readQuestions(fields["qa"], true)
}

// firstOf returns a, or b if a is missing.
func firstOf(a, b value) value {
	if a.missing() {
		return b
	}
	return a
}

// locomo reads the sessions of one conversation. counts has the messages of each speaker.
type locomo struct {
	rec      *recording
	speakers map[string]speaker
	counts   map[string]int
}

// readSession reads the messages of one day. The first begins with the date, because questions ask
// for it.
func (l *locomo) readSession(key string, v, date value) error {
	day, err := date.text(key + "_date_time")
	if err != nil {
		return err
	}
	when, _ := time.Parse("3:04 pm on 2 January, 2006", strings.TrimSpace(day))
	list, err := v.list(key)
	if err != nil {
		return err
	}
	for i, entry := range list {
		m := message{place: place{index: len(l.rec.messages), column: entry.at + 1}, time: when}
		if i == 0 && day != "" {
			m.parts = append(m.parts, &genai.Part{Text: "(" + day + ")"})
		}
		if err := l.readTurn(&m, element(key, i), entry); err != nil {
			return inMessage(err, m.place)
		}
		l.rec.messages = append(l.rec.messages, m)
	}
	return nil
}

func (l *locomo) readTurn(m *message, where string, v value) error {
	if !v.is('{') {
		return v.want(where, "an object with a speaker and a text")
	}
	fields, err := v.object(where)
	if err != nil {
		return err
	}
	who, err := fields["speaker"].text(where + ".speaker")
	if err != nil {
		return err
	}
	if who == "" {
		return v.fail("%s has no speaker; expected the name of one of the two", where)
	}
	if err := l.know(who, where, v); err != nil {
		return err
	}
	m.from = l.speakers[who]
	l.counts[who]++
	for _, field := range []struct{ name, before, after string }{{"text", "", ""}, {"blip_caption", "(shares a picture: ", ")"}} {
		text, err := fields[fold(field.name)].text(where + "." + field.name)
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		if field.before != "" {
			l.rec.notes.add("pictures, replaced by their captions", 1)
		}
		m.parts = append(m.parts, &genai.Part{Text: field.before + text + field.after})
	}
	return nil
}

// know gives a new speaker the next free role: user, then agent.
func (l *locomo) know(who, where string, v value) error {
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	if _, known := l.speakers[who]; known {
		return nil
	}
	switch len(l.speakers) {
	case 0, 1:
		taken := map[speaker]bool{}
		for _, s := range l.speakers {
			taken[s] = true
		}
		l.speakers[who] = user
		if taken[user] {
			l.speakers[who] = agent
		}
		return nil
	}
	names := slices.Sorted(maps.Keys(l.speakers))
	return v.fail("%s has the speaker %q; expected %s or %s", where, who, cmp.Or(names[0], "one"), names[1])
}
