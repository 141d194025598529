package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed labels.txt
var labelFile string

// label says where the answer to a question of a Chinese chat is. It has numbers only.
type label struct {
	chat, question int // from 1
	evidence       []int
	// answers are the words that answer the question. Any of them is accepted.
	answers []span
}

// span is a part of a message, in characters.
type span struct{ message, from, to int }

func readLabels(text string) ([]label, error) {
	var labels []label
	for n, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		l, err := readLabel(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("labels, line %d: %w", n+1, err)
		}
		labels = append(labels, l)
	}
	return labels, nil
}

func readLabel(fields []string) (l label, err error) {
	if len(fields) < 3 {
		return l, fmt.Errorf("%d columns, want 3 or more", len(fields))
	}
	if _, err := fmt.Sscanf(fields[0], "%d.%d", &l.chat, &l.question); err != nil {
		return l, fmt.Errorf("question %q: %w", fields[0], err)
	}
	for number := range strings.SplitSeq(fields[1], "+") {
		var message int
		if _, err := fmt.Sscanf(number, "%d", &message); err != nil {
			return l, fmt.Errorf("message %q: %w", number, err)
		}
		l.evidence = append(l.evidence, message)
	}
	for _, place := range fields[2:] {
		if place == "-" {
			continue
		}
		var s span
		if _, err := fmt.Sscanf(place, "%d:%d-%d", &s.message, &s.from, &s.to); err != nil {
			return l, fmt.Errorf("answer %q: %w", place, err)
		}
		l.answers = append(l.answers, s)
	}
	return l, nil
}

// in returns the words of a span.
func (s span) in(messages []message) (string, error) {
	if s.message >= len(messages) {
		return "", fmt.Errorf("there is no message %d", s.message)
	}
	text := []rune(messages[s.message].text)
	if s.from < 0 || s.to > len(text) || s.from >= s.to {
		return "", fmt.Errorf("message %d has %d characters, and no %d to %d", s.message, len(text), s.from, s.to)
	}
	return string(text[s.from:s.to]), nil
}
