package toolresult

import "strings"

// partialLine is the largest share of a head or tail that is given up so that it consists of whole lines: a
// quarter.
const partialLine = 4

// wholeLinesBefore removes a short partial line from the end of head, which is a beginning of the text.
func wholeLinesBefore(text, head string) string {
	if len(head) == len(text) || text[len(head)] == '\n' {
		return head
	}
	if end := strings.LastIndexByte(head, '\n'); end >= 0 && len(head)-end <= len(head)/partialLine {
		return head[:end]
	}
	return head
}

// wholeLinesAfter removes a short partial line from the beginning of tail, which is an end of the text.
func wholeLinesAfter(text, tail string) string {
	if start := len(text) - len(tail); start == 0 || text[start-1] == '\n' {
		return tail
	}
	if end := strings.IndexByte(tail, '\n'); end >= 0 && end < len(tail)/partialLine {
		return tail[end+1:]
	}
	return tail
}

// lineCount returns the number of lines. A newline at the end begins no line.
func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// firstLines returns the first n lines, without the last newline.
func firstLines(text string, n int) string {
	end := -1
	for range n {
		next := strings.IndexByte(text[end+1:], '\n')
		if next < 0 {
			return text
		}
		end += 1 + next
	}
	return text[:max(0, end)]
}

// lastLines returns the last n lines.
func lastLines(text string, n int) string {
	start := len(strings.TrimSuffix(text, "\n"))
	for range n {
		if start = strings.LastIndexByte(text[:start], '\n'); start < 0 {
			return text
		}
	}
	if n == 0 {
		return ""
	}
	return text[start+1:]
}
