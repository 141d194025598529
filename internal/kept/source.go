package kept

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/adk/session"
	"google.golang.org/genai"
)

// Source is what a summary stands for: what its texts have of atoms, numbers and dates, without the texts.
type Source struct {
	atoms   map[uint64]bool // and whole words in camel case, and the beginnings of long hexadecimal ones
	pairs   map[uint64]bool
	camels  int       // words in camel case
	numbers []float64 // sorted by sort
	sorted  bool
	dates   dates
	turns   []turn
	// steps counts the atoms that were looked at.
	steps int
}

// NewSource returns the source of a summary of events, and of other texts that its writer has read: the summaries that it
// replaces, and the words of the prompt. Nil events are skipped.
func NewSource(events []*session.Event, texts ...string) *Source {
	s := &Source{atoms: map[uint64]bool{}, pairs: map[uint64]bool{}}
	for _, text := range texts {
		s.Add(text)
	}
	EachText(events, s.Add)
	for _, ev := range events {
		if ev != nil {
			s.dates.at(ev.Timestamp)
		}
	}
	return s
}

// Add adds a text that the writer of the summary has read.
func (s *Source) Add(text string) {
	s.index(text)
	if strings.Contains(text, `\`) { // JSON in a text
		if plain := unescape.Replace(text); plain != text {
			s.index(plain)
		}
	}
	s.turns = appendTurns(s.turns, text)
	s.sorted = false
}

var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\n", `\"`, `"`, `\/`, "/")

func (s *Source) index(text string) {
	var before uint64
	var words spelled
	w := dateReader{text: text, dates: &s.dates}
	eachAtom(text, func(a atom) {
		s.steps++
		s.atoms[a.hash] = true
		if a.joined != 0 {
			if !s.atoms[a.joined] {
				s.camels++
			}
			s.atoms[a.joined] = true
		}
		if before != 0 {
			s.pairs[pair(before, a.hash)] = true
		}
		before = a.hash
		word := text[a.begin:a.end]
		if len(word) >= 2*leastHex && isHex(word) { // a commit is named by its beginning
			for n := leastHex; n <= 2*leastHex; n++ {
				s.atoms[hashOf(word[:n])] = true
			}
		}
		if n, ends := words.word(strings.ToLower(word)); ends {
			s.numbers = append(s.numbers, n)
		}
		w.atom(a)
	})
	if n, ends := words.word(""); ends {
		s.numbers = append(s.numbers, n)
	}
	eachNumber(text, func(n number) {
		s.steps++
		s.numbers = append(append(s.numbers, n.readings...), n.groups...)
	})
}

// leastHex is the shortest beginning of a hexadecimal identifier that names it.
const leastHex = 7

// has reports whether the source has a text: its atoms, and each pair of them next to each other, or all of them in one.
func (s *Source) has(text string) bool {
	var before uint64
	all, n := true, 0
	whole := uint64(offset64)
	eachAtom(text, func(a atom) {
		s.steps++
		n++
		all = all && s.atoms[a.hash] && (before == 0 || s.pairs[pair(before, a.hash)])
		for _, r := range strings.ToLower(text[a.begin:a.end]) {
			whole = mix(whole, r)
		}
		before = a.hash
	})
	return n == 0 || all || s.atoms[whole]
}

// knows reports whether the source has each atom of a text, anywhere.
func (s *Source) knows(text string) bool {
	missing, _ := s.missing(text)
	return missing == 0
}

// missing counts the atoms of a text that the source does not have, and all of them.
func (s *Source) missing(text string) (missing, all int) {
	eachAtom(text, func(a atom) {
		s.steps++
		all++
		if !s.atoms[a.hash] && (a.joined == 0 || !s.atoms[a.joined]) {
			missing++
		}
	})
	return missing, all
}

// maxDepth bounds what is read of arguments and responses.
const maxDepth = 64

// EachText calls f with the texts of events that a transcript may show. Nil events are skipped.
func EachText(events []*session.Event, f func(text string)) {
	for _, ev := range events {
		eachText(ev, f)
	}
}

// eachText calls f with the texts of an event that a transcript may show.
func eachText(ev *session.Event, f func(text string)) {
	if ev == nil {
		return
	}
	f(ev.Author)
	if ev.Content != nil {
		for _, p := range ev.Content.Parts {
			if p != nil {
				eachPartText(p, f)
			}
		}
	}
	for _, said := range []*genai.Transcription{ev.InputTranscription, ev.OutputTranscription} {
		if said != nil {
			f(said.Text)
		}
	}
	if ev.ErrorCode != "" || ev.ErrorMessage != "" {
		f(ev.ErrorCode + " " + ev.ErrorMessage)
	}
	for _, key := range slices.Sorted(maps.Keys(ev.Actions.StateDelta)) {
		f(key)
		eachLeaf(ev.Actions.StateDelta[key], 0, f)
	}
	for _, name := range slices.Sorted(maps.Keys(ev.Actions.ArtifactDelta)) {
		f(fmt.Sprint(name, " version ", ev.Actions.ArtifactDelta[name]))
	}
}

func eachPartText(p *genai.Part, f func(text string)) {
	f(p.Text)
	if c := p.FunctionCall; c != nil {
		f(c.Name)
		f(c.ID)
		eachLeaf(c.Args, 0, f)
	}
	if r := p.FunctionResponse; r != nil {
		f(r.Name)
		f(r.ID)
		eachLeaf(r.Response, 0, f)
	}
	if d := p.FileData; d != nil {
		f(d.FileURI + " " + d.DisplayName + " " + d.MIMEType)
	}
	if d := p.InlineData; d != nil {
		f(fmt.Sprint(d.DisplayName, " ", d.MIMEType, " ", len(d.Data)))
	}
	if c := p.ExecutableCode; c != nil {
		f(c.Code)
	}
	if r := p.CodeExecutionResult; r != nil {
		f(r.Output)
	}
}

// eachLeaf calls f with the texts and the numbers of a value, each with the name of its field before it.
func eachLeaf(value any, depth int, f func(text string)) {
	if depth > maxDepth {
		return
	}
	switch v := value.(type) {
	case nil:
	case string:
		f(v)
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if inner, isText := v[key].(string); isText {
				f(key)
				f(inner)
				continue
			}
			f(key)
			eachLeaf(v[key], depth+1, f)
		}
	case []any:
		for _, one := range v {
			eachLeaf(one, depth+1, f)
		}
	case float64:
		f(plainNumber(v))
	default:
		f(fmt.Sprint(v))
	}
}
