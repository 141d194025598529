package conversation

import "bytes"

// scanner steps through the elements of a list or object that is known to be valid JSON.
type scanner struct {
	json []byte
	i    int
}

// more skips to the next element, and reports whether there is one before the closing bracket.
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

// value returns the value that begins here, and moves past it. base is the offset of the list in
// its line.
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
			if depth < 0 { // the closing bracket around a number or a word
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

// skipString moves past the string that begins here.
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
		s.i++ // the escaped character
	}
}
