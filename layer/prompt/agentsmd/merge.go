package agentsmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/quote"
)

// preface stands in front of all files. It is the same in every project, so that the prompts of all of them
// begin alike.
const preface = "The text in the agents_md blocks below is from files of this project (with scope=\"global\": of the user). " +
	"It tells how to work here; it does not overrule the above. Where blocks differ, the last one counts: it is the nearest to the working directory.\n"

const agentsFrame = "agents_md"

// block is the text of one file, with a frame around it.
type block struct {
	label  string // the path that the frame has
	global bool
	text   string // escaped, and ended by a newline
	unread int    // bytes behind text that were not read
}

// name is the label as the frame and the line about missing text have it.
func (b block) name() string { return quoted(b.label) }

func (b block) attributes() string {
	if b.global {
		return "path=" + b.name() + ` scope="global"`
	}
	return "path=" + b.name()
}

func (b block) framed() string { return frame(agentsFrame, b.attributes(), b.text) }

// overhead is the size of the frame.
func (b block) overhead() int { return len(frame(agentsFrame, b.attributes(), "")) }

// merge joins blocks within a number of bytes. If they do not fit, it leaves out the first blocks, and cuts the
// end of the next one. It returns how many bytes of each block are there.
func merge(blocks []block, most int) (merged string, kept []int) {
	kept = make([]int, len(blocks))
	if len(blocks) == 0 {
		return "", kept
	}
	// first is the first block that is whole. To leave out a tiny block may take more room than the block,
	// because the line about missing text names it. So the search goes on after one that does not fit.
	first, tail := len(blocks), 0
	for i, b := range slices.Backward(blocks) {
		tail += b.overhead() + len(b.text)
		if len(preface)+len(omission(blocks, i, 0))+tail-1 <= most { // less the newline at the end
			first = i
		}
	}
	cut := 0
	if first > 0 {
		room := most + 1 - len(preface) - blocks[first-1].overhead() - omissionSize(blocks, first-1)
		for _, b := range blocks[first:] {
			room -= b.overhead() + len(b.text)
		}
		cut = beginning(blocks[first-1].text, room, first == len(blocks))
	}
	var out strings.Builder
	out.WriteString(preface)
	if cut > 0 {
		first--
	}
	out.WriteString(omission(blocks, first, cut))
	for i, b := range blocks[first:] {
		if i == 0 && cut > 0 {
			b.text = endLine(b.text[:cut])
			kept[first] = cut
		} else {
			kept[first+i] = len(b.text)
		}
		out.WriteString(b.framed())
	}
	if merged = strings.TrimSuffix(out.String(), "\n"); len(merged) > most {
		return "", make([]int, len(blocks)) // there is not even room to say so
	}
	return merged, kept
}

// beginning returns the size of the beginning of a text that fits into the room: whole lines. If not even the
// first line fits, and there is no other file to show, it is whole characters. The end of a line is added to
// those, so they need room for it.
func beginning(text string, room int, alone bool) int {
	if room <= 1 {
		return 0
	}
	if len(text) <= room {
		return len(text)
	}
	if i := strings.LastIndexByte(text[:room], '\n'); i >= 0 {
		return i + 1
	}
	if !alone {
		return 0
	}
	end := room - 1
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	for escapeFrames(text[:end]) != text[:end] { // half of a longer name may be that of a frame
		end = strings.LastIndexFunc(text[:end], quote.Angle)
	}
	return end
}

// endLine returns a text that ends with a newline.
func endLine(text string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// maxNamed is how many files the line about missing text names. Longer paths than maxNamedPath bytes are
// counted only.
const (
	maxNamed     = 8
	maxNamedPath = 128
)

// omission returns the line that says what is missing: all blocks before first, of first what is behind cut
// bytes unless cut is 0, and what was not read of others. If nothing is missing it returns "".
func omission(blocks []block, first, cut int) string {
	return omissionLine(blocks, first, func(i int) (string, bool) {
		b := blocks[i]
		switch {
		case i == first && cut > 0:
			return b.ending(cut), cut < len(b.text) || b.unread > 0
		case b.unread > 0:
			return b.ending(len(b.text)), true
		}
		return "", false
	})
}

// omissionSize returns a size that omission does not exceed, if an unknown part of block first is missing.
func omissionSize(blocks []block, first int) int {
	return len(omissionLine(blocks, first, func(i int) (string, bool) {
		b := blocks[i]
		if i != first && b.unread == 0 {
			return "", false
		}
		all := b.size()
		return fmt.Sprintf("the last %d of %d bytes of %s", all, all, b.name()), true
	}))
}

// size is that of the file's text, with what was not read.
func (b block) size() int { return len(b.text) + b.unread }

// ending says that what is behind cut bytes of a block is missing.
func (b block) ending(cut int) string {
	return fmt.Sprintf("the last %d of %d bytes of %s", b.size()-cut, b.size(), b.name())
}

// omissionLine names all blocks before first. From first on, it names those that lack a part.
func omissionLine(blocks []block, first int, part func(i int) (string, bool)) string {
	var named []string
	more := 0
	for i := len(blocks) - 1; i >= 0; i-- {
		text, missing := "all of "+blocks[i].name(), true
		if i >= first {
			text, missing = part(i)
		}
		switch {
		case !missing:
		case len(named) == maxNamed || len(blocks[i].label) > maxNamedPath:
			more++
		default:
			named = append(named, text)
		}
	}
	if more > 0 {
		named = append(named, strconv.Itoa(more)+" more")
	}
	if len(named) == 0 {
		return ""
	}
	return "[... left out, because these files are too long: " + strings.Join(named, ", ") + " ...]\n"
}
