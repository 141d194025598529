package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// asJSON decodes a text that is a JSON object, list or string.
func asJSON(text string) (any, bool) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !strings.ContainsRune(`{["`, rune(trimmed[0])) {
		return nil, false
	}
	value, err := unmarshal([]byte(trimmed))
	return value, err == nil
}

func unmarshal(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // a long number keeps its digits
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("more than one value")
	}
	return value, nil
}

func marshal(value any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return buf.Bytes(), err
}

// plain returns a value as JSON knows it.
func plain(value any) any {
	switch value.(type) {
	case string, float64, bool, json.Number:
		return value
	}
	text, err := marshal(value)
	if err != nil {
		return redacted
	}
	out, err := unmarshal(text)
	if err != nil {
		return redacted
	}
	return out
}

// jsonToken is a key or a value in a text of JSON, without its quotes. A null is empty: it says nothing.
type jsonToken struct {
	from, to int
	key      bool
}

// jsonTokens returns the keys and values of a text that encoding/json wrote on one line.
func jsonTokens(text string) []jsonToken {
	var out []jsonToken
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(text))
			out = append(out, jsonToken{i + 1, end, end+1 < len(text) && text[end+1] == ':'})
			i = end + 1
		case strings.IndexByte("{}[],: \n", c) >= 0:
			i++
		default:
			length := strings.IndexAny(text[i:], "{}[],: \n")
			if length < 0 {
				length = len(text) - i
			}
			t := jsonToken{from: i, to: i + length}
			if text[i:t.to] == "null" {
				t.to = i
			}
			out = append(out, t)
			i += length
		}
	}
	return out
}
