package toolresult

import (
	"strings"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/internal/notes"
)

// size is how large a result is. Tokens are counted separately.
type size struct {
	bytes   int // of the JSON, as encoding/json writes it
	content int // of the text, or of the canonical JSON if the result is not one text
	lines   int
	odd     bool // it holds what JSON cannot hold
}

// within reports whether a result needs no cut.
func (s size) within(lim limits) bool {
	return !s.odd && s.bytes <= lim.MaxBytes && s.lines <= lim.MaxLines
}

// tokensOf returns the tokens of a tool's result of that size, see [countTokens], or 0 if they are certainly within the
// limit. Reading tokens is slower than reading bytes. No byte of JSON costs more than 1.36 tokens: package tokens counts
// newlines as escapes, and 1.353 for a symbol.
func tokensOf(tool string, response map[string]any, s size, lim limits) int {
	if int64(s.bytes+len(tool))*136 <= int64(min(lim.MaxTokens, maxCounted))*100 {
		return 0
	}
	return countTokens(tool, response)
}

// maxCounted is more than any number of tokens.
const maxCounted = 1 << 30

// measure returns the size of a result. It reads no more of it than the limits need, so sizes over a limit
// are lower bounds. It does not allocate for maps, slices and values as encoding/json decodes them.
func measure(response map[string]any, lim limits) size {
	m := meter{most: lim.MaxBytes, left: canonical.MaxValues}
	if lim.StubAbove != noLimit {
		m.most = max(m.most, lim.StubAbove)
	}
	m.object(response)
	s := size{bytes: m.bytes, content: m.content, lines: m.lines + 1, odd: m.odd || m.left < 0}
	if text, one := onlyText(response); one {
		s.content = len(text)
		if s.content <= lim.StubAbove {
			s.content = len(canonical.Text(text))
		}
	}
	if s.lines > lim.MaxLines && s.bytes <= lim.MaxBytes {
		s.lines -= markerLines(response)
	}
	return s
}

// onlyText returns the text of a result that is one text, apart from notes of other layers.
func onlyText(response map[string]any) (text string, one bool) {
	entries := 0
	for key, value := range response {
		if notes.Is(key, value) {
			continue
		}
		if text, one = value.(string); !one || entries > 0 {
			return "", false
		}
		entries++
	}
	return text, one
}

// meter adds up sizes until they exceed most.
type meter struct {
	most           int // further bytes do not matter
	left           int // values that may still be read
	bytes, content int
	lines          int // newlines between lines
	odd            bool
	path           canonical.Path
}

func (m *meter) full() bool { return m.left < 0 || m.bytes > m.most && m.content > m.most }

func (m *meter) add(n int) { m.bytes, m.content = m.bytes+n, m.content+n }

func (m *meter) value(v any) {
	m.left--
	switch v := v.(type) {
	case nil:
		m.add(len("null"))
	case bool:
		m.add(len("false")) // one more than true
	case string:
		m.text(v)
	case float64:
		m.number(v)
	case map[string]any:
		m.object(v)
	case []any:
		m.array(v)
	default:
		m.other(canonical.Level(v))
	}
}

// other adds what a value of any other type is as JSON.
func (m *meter) other(v any) {
	if text, ok := v.(string); ok {
		m.odd = m.odd || strings.HasPrefix(text, "[") // the text that replaces a value
	}
	m.left++
	m.value(v)
}

func (m *meter) number(v float64) {
	if v != v || v-v != 0 { // NaN or an infinity
		m.odd = true
		return
	}
	var buf [32]byte
	m.add(len(canonical.AppendNumber(buf[:0], v)))
}

func (m *meter) object(v map[string]any) {
	if v == nil {
		m.add(len("null"))
		return
	}
	if m.path.EnterObject(v) != "" {
		m.odd = true
		return
	}
	defer m.path.Leave()
	m.add(len("{}") + max(0, len(v)-1))
	for key, element := range v {
		if m.full() {
			return
		}
		lines := m.lines
		m.text(key)
		m.lines = lines // only values have lines
		m.add(len(":"))
		m.value(element)
	}
}

func (m *meter) array(v []any) {
	if v == nil {
		m.add(len("null"))
		return
	}
	if m.path.EnterList(v) != "" {
		m.odd = true
		return
	}
	defer m.path.Leave()
	m.add(len("[]") + max(0, len(v)-1))
	for _, element := range v {
		if m.full() {
			return
		}
		m.value(element)
	}
}

// textPiece is how much of a string is read before its size is compared with the limits.
const textPiece = 4 << 10

// text adds a string. Only as much of it is read as the limits need.
func (m *meter) text(s string) {
	m.add(len(`""`))
	for i := 0; i < len(s) && !m.full(); {
		n := plainSize(s[i:min(len(s), i+textPiece)])
		m.add(n)
		i += n
		for i < len(s) { // what is escaped often comes in rows
			b := s[i]
			if b < utf8.RuneSelf {
				size := int(asciiSize[b])
				if size == 1 {
					break
				}
				m.bytes += size
				if b == '<' || b == '>' || b == '&' {
					size = 1
				}
				m.content += size
				if i++; b == '\n' && i < len(s) {
					m.lines++
				}
				continue
			}
			size, length := runeSize(s[i:])
			m.bytes += size
			if length == 1 || size == longEscape && s[i:i+length] == "\ufffd" {
				size = len("\ufffd")
			}
			m.content += size
			i += length
			if m.full() {
				return
			}
		}
	}
}
