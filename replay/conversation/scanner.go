package conversation

import "bytes"

// scanner walks over the elements of a valid list or object.
type scanner struct {
	json []byte
	i    int
}

// more skips to the next element. It reports false if the closing bracket came.
func (s *scanner) more(closing byte) bool {
	for s.i < len(s.json) {
		switch c := s.json[s.i]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			s.i++
		default:
			return c != closing
		}
	}
	return false
}

// value takes the value that begins here.
func (s *scanner) value(base int) value {
	start, depth := s.i, 0
	for s.i < len(s.json) {
		switch s.json[s.i] {
		case '"':
			s.skipString()
			if depth == 0 {
				return value{s.json[start:s.i], base + start}
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth < 0 { // the end of what this is in, behind a number or a word
				return value{s.json[start:s.i], base + start}
			}
			if depth == 0 {
				s.i++
				return value{s.json[start:s.i], base + start}
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return value{s.json[start:s.i], base + start}
			}
		}
		s.i++
	}
	return value{s.json[start:s.i], base + start}
}

// skipString moves behind the string that begins here.
func (s *scanner) skipString() {
	for s.i++; s.i < len(s.json); s.i++ {
		next := bytes.IndexAny(s.json[s.i:], `"\`)
		if next < 0 {
			s.i = len(s.json)
			return
		}
		s.i += next
		if s.json[s.i] == '"' {
			s.i++
			return
		}
		s.i++ // what the backslash escapes
	}
}
