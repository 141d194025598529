package input

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/renameio/v2/maybe"
)

// mostEntries is how many messages the history keeps.
const mostEntries = 1_000

// history has the messages of a person, the oldest first. Its file has one JSON string per line and is for this person
// alone. Messages that begin with a blank or look like keys are not kept.
type history struct {
	file    string // "" keeps nothing
	entries []string
	added   []string // since the file was read
}

// openHistory reads a history. A file that cannot be read is no reason not to talk: the history is empty then.
func openHistory(file string) *history {
	h := &history{file: file}
	h.entries = readEntries(file)
	return h
}

func readEntries(file string) (entries []string) {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var entry string
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries[max(0, len(entries)-mostEntries):]
}

// add keeps a message, unless it is that of before.
func (h *history) add(text string) {
	if strings.TrimSpace(text) == "" || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t") || hasKey(text) {
		return
	}
	if n := len(h.entries); n > 0 && h.entries[n-1] == text {
		return
	}
	h.entries, h.added = append(h.entries, text), append(h.added, text)
}

// save writes what is new behind what is in the file now, because other chats may have written there.
func (h *history) save() error {
	if h.file == "" || len(h.added) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(h.file); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "save the history", Path: h.file, Err: errors.New("it is no regular file")}
	}
	all := append(readEntries(h.file), h.added...)
	var b bytes.Buffer
	for _, entry := range all[max(0, len(all)-mostEntries):] {
		line, err := json.Marshal(entry)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	h.added = nil
	return maybe.WriteFile(h.file, b.Bytes(), 0o600)
}

// knownKey finds keys by how their providers write them.
var knownKey = regexp.MustCompile(`\b(sk-[A-Za-z0-9_-]{8,}|AIza[A-Za-z0-9_-]{10,}|gh[pousr]_[A-Za-z0-9]{10,}|github_pat_[A-Za-z0-9_]{10,}|xox[abprs]-[A-Za-z0-9-]{8,}|AKIA[A-Z0-9]{12,})`)

// random finds words that may be keys of others.
var random = regexp.MustCompile(`[A-Za-z0-9+/_=-]{32,}`)

// leastEntropy is that of words which were drawn and not written, in bits per character: hexadecimal keys have almost 4,
// long words of a language below 3.5.
const leastEntropy = 3.6

// hasKey reports whether a text looks as if it had a key in it.
func hasKey(text string) bool {
	if knownKey.MatchString(text) {
		return true
	}
	for _, word := range random.FindAllString(text, -1) {
		if strings.ContainsAny(word, "0123456789") && entropy(word) >= leastEntropy {
			return true
		}
	}
	return false
}

// entropy is the information of a character in a word, in bits.
func entropy(word string) (bits float64) {
	var counts [256]int
	for i := range len(word) {
		counts[word[i]]++
	}
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(word))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
