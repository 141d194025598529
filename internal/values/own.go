package values

import (
	"slices"
	"strings"
)

// own adds what a sentence says of what is the speaker's: "my X is Y". It adds nothing that holds one of
// the other values of the sentence.
func (f *finder) own(s *sentence, others []found) {
	t := s.tokens
	holds := func(text string) bool {
		return slices.ContainsFunc(others, func(o found) bool { return strings.Contains(text, o.core) })
	}
	for i := range t {
		if len(f.out) >= maxFound {
			return
		}
		if t[i].class != classWord {
			continue
		}
		w := t[i].lower
		if w == "my" || w == "our" {
			for k := i + 1; k < len(t) && k <= i+4 && t[k].class == classWord; k++ {
				if k == i+1 || t[k].lower != "is" && t[k].lower != "are" && t[k].lower != "was" {
					continue
				}
				if text := phrase(s, k+1, 4); text != "" && !holds(text) && !judging(text) {
					f.add(kindOwn+markIs, s.text[t[i+1].begin:t[k].end], text)
				}
				break
			}
		}
	}
}

// judging reports whether a text is what follows in "my boss is very demanding" and "my routine is working": an opinion,
// and no value.
func judging(text string) bool {
	word, _, _ := strings.Cut(strings.ToLower(text), " ")
	return judges[word] || strings.HasSuffix(word, "ing")
}

var judges = set("just really very pretty so too quite already always not still")

// phrase returns at most n words from the token at i on, up to a sign, and without stop words at the end.
func phrase(s *sentence, i, n int) string {
	t := s.tokens
	to := i
	for to < len(t) && to < i+n && t[to].class != classPunct && !clauses[t[to].lower] {
		to++
	}
	for to > i && stop[t[to-1].lower] {
		to--
	}
	if to <= i {
		return ""
	}
	return s.text[t[i].begin:t[to-1].end]
}
