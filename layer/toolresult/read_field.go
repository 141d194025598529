package toolresult

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// field returns one top-level field of a result as a text. If the result is no JSON object, it returns
// the result itself and a note.
func (c *textCache) field(t resultText, key textKey, name string) (resultText, string, error) {
	key.field = name
	c.mu.Lock()
	value, known := c.fields.Get(key)
	c.mu.Unlock()
	if !known {
		var err error
		value, err = decodeField(t, name)
		if errors.Is(err, errNoObject) {
			return t, "The result is plain text without fields, so field was ignored.", nil
		}
		if err != nil {
			return resultText{}, "", err
		}
		c.mu.Lock()
		c.fields.Remove(key)
		c.bytes += len(value)
		c.fields.Add(key, value)
		for c.bytes > maxFieldBytes && c.fields.Len() > 1 {
			c.fields.RemoveOldest()
		}
		c.mu.Unlock()
	}
	return resultText{ctx: t.ctx, from: strings.NewReader(value), size: int64(len(value))}, "", nil
}

var errNoObject = errors.New("no JSON object")

// maxNames bounds the field names in the answer to a field that does not exist.
const maxNames = 30

// decodeField finds a field in the JSON object that t holds. A text is returned decoded, any other value
// as its JSON.
func decodeField(t resultText, name string) (string, error) {
	dec := json.NewDecoder(bufio.NewReaderSize(&textReader{t: t}, lineBlock))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return "", noObject(err)
	}
	var names []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "", noObject(err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return "", noObject(err)
		}
		if key == name {
			var s string
			if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &s) == nil {
				return s, nil
			}
			return string(value), nil
		}
		names = append(names, fmt.Sprintf("%.80s", key))
	}
	if _, err := dec.Token(); err != nil {
		return "", noObject(err)
	}
	slices.Sort(names)
	rest := ""
	if len(names) > maxNames {
		rest = fmt.Sprintf(" and %d more", len(names)-maxNames)
		names = names[:maxNames]
	}
	return "", argumentError(fmt.Sprintf("The result has no field %.80q. It has: %s%s.", name, strings.Join(names, ", "), rest))
}

// noObject returns errNoObject for an error of the JSON, and an error of the source as it is.
func noObject(err error) error {
	var syntax *json.SyntaxError
	if err == nil || errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errNoObject
	}
	return err
}
