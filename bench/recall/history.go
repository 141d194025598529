package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// history is a session with questions about it.
type history struct {
	name      string
	messages  []message
	questions []question
}

// message is one message of a user or an agent.
type message struct {
	user bool
	text string
	time time.Time
}

// question is about a history.
type question struct {
	// name is the number of the history and of the question, such as "4.2", both from 1.
	name, text string
	evidence   []int // messages with the answer, from 0
	// accepted are the answers that are in the history word for word. Without one the question counts only for
	// the ranks of its evidence.
	accepted []string
}

// set is a group of histories that are measured together.
type set struct {
	name      string
	histories []*history
}

// questions counts those with a literal answer.
func (s set) literal() (n int) {
	for _, h := range s.histories {
		for _, q := range h.questions {
			if len(q.accepted) > 0 {
				n++
			}
		}
	}
	return n
}

// The files, as they are published.
const (
	scenarioFile = "bfcl_memory.jsonl"
	chatFile     = "memorybank_zh_en.jsonl"
	codingFile   = "coding_agent_sessions.jsonl"
)

// sets are the memory scenarios, the Chinese chats, and all of these as one session.
type sets struct{ scenarios, chats, joined set }

func readSets(dir string) (all sets, err error) {
	if all.scenarios, err = readScenarios(filepath.Join(dir, scenarioFile)); err != nil {
		return all, err
	}
	if all.chats, err = readChats(filepath.Join(dir, chatFile)); err != nil {
		return all, err
	}
	nine := slices.Concat(all.scenarios.histories, all.chats.histories)
	all.joined = set{"the nine as one session", []*history{join(nine)}}
	return all, nil
}

// recorded is a line of the files, as far as it is used.
type recorded struct {
	Lang     string `json:"lang"`
	Messages []struct {
		Role, Content, Topic, Date string
	} `json:"messages"`
	QA []struct {
		Question string   `json:"question"`
		Answers  []string `json:"accepted_answers"`
		Source   string   `json:"source_sentence"`
	} `json:"qa"`
	Probing []string `json:"probing_questions"`
}

func readLines(path string) ([]recorded, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []recorded
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(all)+1, err)
		}
		all = append(all, r)
	}
	return all, lines.Err()
}

// readScenarios reads monologues of users. Each topic is a day, because the recording has no times.
func readScenarios(path string) (set, error) {
	lines, err := readLines(path)
	if err != nil {
		return set{}, err
	}
	s := set{name: "memory scenarios"}
	for i, line := range lines {
		h := &history{name: fmt.Sprintf("scenario %d", i+1)}
		day, topic, first := day(2023, time.March, 1), "", 0
		for n, m := range line.Messages {
			if n > 0 && m.Topic != topic {
				day, first = day.AddDate(0, 0, 1), n
			}
			topic = m.Topic
			h.messages = append(h.messages, message{m.Role == "user", m.Content, day.Add(time.Duration(n-first) * time.Minute)})
		}
		for n, qa := range line.QA {
			q := question{name: fmt.Sprintf("%d.%d", i+1, n+1), text: qa.Question, evidence: sources(h.messages, qa.Source)}
			if len(q.evidence) == 0 {
				return set{}, fmt.Errorf("%s: no message has the source of question %s", path, q.name)
			}
			q.accepted = said(h.messages, qa.Answers)
			h.questions = append(h.questions, q)
		}
		s.histories = append(s.histories, h)
	}
	return s, nil
}

// readChats reads the Chinese chats. They have a date for each message.
func readChats(path string) (set, error) {
	labels, err := readLabels(labelFile)
	if err != nil {
		return set{}, err
	}
	lines, err := readLines(path)
	if err != nil {
		return set{}, err
	}
	lines = slices.DeleteFunc(lines, func(r recorded) bool { return r.Lang != "zh" })
	s := set{name: "Chinese chats"}
	for i, line := range lines {
		h := &history{name: fmt.Sprintf("chat %d", i+1)}
		date, first := "", 0
		for n, m := range line.Messages {
			if m.Date != date {
				date, first = m.Date, n
			}
			day, err := time.Parse("2006-01-02", m.Date)
			if err != nil {
				return set{}, fmt.Errorf("%s, message %d: %w", path, n, err)
			}
			h.messages = append(h.messages, message{m.Role == "user", m.Content, day.Add(morning + time.Duration(n-first)*time.Minute)})
		}
		for n, text := range line.Probing {
			at := slices.IndexFunc(labels, func(l label) bool { return l.chat == i+1 && l.question == n+1 })
			if at < 0 {
				return set{}, fmt.Errorf("%s: question %d.%d has no label", path, i+1, n+1)
			}
			q, err := labels[at].of(h, text)
			if err != nil {
				return set{}, fmt.Errorf("%s: question %d.%d: %w", path, i+1, n+1, err)
			}
			h.questions = append(h.questions, q)
		}
		s.histories = append(s.histories, h)
	}
	return s, nil
}

func (l label) of(h *history, text string) (question, error) {
	q := question{name: fmt.Sprintf("%d.%d", l.chat, l.question), text: text, evidence: l.evidence}
	for _, e := range l.evidence {
		if e >= len(h.messages) {
			return q, fmt.Errorf("there is no message %d", e)
		}
	}
	var errs []error
	for _, answer := range l.answers {
		words, err := answer.in(h.messages)
		q.accepted, errs = append(q.accepted, words), append(errs, err)
	}
	return q, errors.Join(errs...)
}

// morning is the time of day at which a day's first message is.
const morning = 9 * time.Hour

func day(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 9, 0, 0, 0, time.UTC)
}

// join makes one session of several. Each follows the one before in another year, so that the days by which some
// questions ask remain those of the messages.
func join(histories []*history) *history {
	all := &history{name: "the nine as one"}
	for i, h := range histories {
		at := len(all.messages)
		for _, m := range h.messages {
			m.time = m.time.AddDate(i, 0, 0)
			all.messages = append(all.messages, m)
		}
		for _, q := range h.questions {
			moved := q
			moved.name = fmt.Sprintf("%d:%s", i+1, q.name)
			moved.evidence = nil
			for _, e := range q.evidence {
				moved.evidence = append(moved.evidence, at+e)
			}
			all.questions = append(all.questions, moved)
		}
	}
	return all
}

// sources are the messages with the sentences that a question was made from. The parts of a quotation are divided
// by "...".
func sources(messages []message, quoted string) []int {
	parts := strings.Split(strings.ReplaceAll(quoted, "…", "..."), "...")
	var found []int
	for _, part := range parts {
		part = letters(part)
		if len(part) <= shortPart && len(parts) > 1 {
			continue
		}
		for i, m := range messages {
			if strings.Contains(letters(m.text), part) && !slices.Contains(found, i) {
				found = append(found, i)
			}
		}
	}
	slices.Sort(found)
	return found
}

// shortPart is the length of a part of a quotation that may be in any message.
const shortPart = 8
