package summarizer

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/adk/session"
)

// place is which of how many pieces a transcript is.
type place struct{ number, of int }

// piecesOf returns the lines of events in at most so many pieces of maxTokens estimated tokens, in order. There is at
// least one. Values are whole, and only one that does not fit into a piece is split. With room for 100 tokens:
//
//	lines of 60, 30, 50 and 150 tokens    60 and 30; 50; 75; 75
//
// If that takes more than most pieces, there is a single one, whose values have to be cut. If not even that is enough,
// the error wraps [ErrTooLong].
func piecesOf(events []*session.Event, maxTokens, most int) ([][]line, error) {
	lines := linesOf(events)
	if fits(lines, noLimit, maxTokens) {
		return [][]line{lines}, nil
	}
	if !fits(lines, floorCap, maxTokens) {
		return nil, tooLong(lines, maxTokens)
	}
	var pieces [][]line
	var piece []line
	left := maxTokens
	for _, l := range lines {
		parts := l.split(maxTokens, most)
		if parts == nil {
			return [][]line{lines}, nil
		}
		for _, part := range parts {
			if part.full > left && len(piece) > 0 {
				pieces, piece, left = append(pieces, piece), nil, maxTokens
			}
			piece, left = append(piece, part), left-part.full
		}
		if len(pieces) >= most {
			return [][]line{lines}, nil
		}
	}
	return append(pieces, piece), nil
}

// noLimit is larger than any value.
const noLimit = int(^uint(0) >> 1)

// split returns a line as one line or several, none of more than maxTokens, or nil if that takes more than most.
func (l line) split(maxTokens, most int) []line {
	if l.full <= maxTokens {
		return []line{l}
	}
	prefix := strings.TrimSuffix(l.prefix, ": ")
	for n := (l.full-1)/maxTokens + 1; n <= most; n++ {
		parts, rest := make([]line, 0, n), l.value
		for i := range n {
			end := runeOffset(rest, (utf8.RuneCountInString(rest)+n-i-1)/(n-i))
			parts = append(parts, newLine(fmt.Sprintf("%s (part %d of %d): ", prefix, i+1, n), rest[:end]))
			rest = rest[end:]
			if parts[i].full > maxTokens {
				break
			}
		}
		if rest == "" && parts[len(parts)-1].full <= maxTokens {
			return parts
		}
	}
	return nil
}

// transcriptOf renders lines in at most so many tokens, with their longest values cut if need be.
func transcriptOf(lines []line, maxTokens int) string {
	limit, ok := commonCap(lines, maxTokens)
	if !ok { // the parts of a split value have longer prefixes than the value
		limit = floorCap
	}
	return render(lines, limit)
}

// pace is how long calls take.
type pace struct{ slowest time.Duration }

func (p *pace) took(d time.Duration) { p.slowest = max(p.slowest, d) }

// misses reports whether so many calls more would end after ctx does.
func (p *pace) misses(ctx context.Context, calls int) bool {
	end, limited := ctx.Deadline()
	return limited && time.Until(end) < time.Duration(calls)*p.slowest
}
