package toolsearch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/adk-go-ext/longsession/internal/terms"
)

const (
	selectPrefix = "select:"
	// maxSelected is how many tools select: returns at once.
	maxSelected = 20
	// maxNearest is how many names are offered in place of one that does not exist.
	maxNearest = 3
)

// selectedNames returns the names of a query such as select:read_file,write_file.
func selectedNames(query string) ([]string, bool) {
	query = strings.TrimSpace(beginning(query, maxQueryBytes))
	if len(query) < len(selectPrefix) || !strings.EqualFold(query[:len(selectPrefix)], selectPrefix) {
		return nil, false
	}
	var names []string
	for name := range strings.FieldsFuncSeq(query[len(selectPrefix):], func(r rune) bool { return strings.ContainsRune(",;[]()`'\" \t\r\n", r) }) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, true
}

// selected returns the tools of some names. A name that is written in another case, or with other separators,
// counts as the same.
func (ix *index) selected(names []string) *found {
	a := &found{}
	if len(names) == 0 {
		a.note("Give names behind select:, such as select:name_a,name_b.")
	}
	if more := len(names) - maxSelected; more > 0 {
		a.note(fmt.Sprintf("%d of the names were not read: select at most %d at once.", more, maxSelected))
		names = names[:maxSelected]
	}
	for _, name := range names {
		i, known := ix.byName[name]
		if !known {
			words := terms.Words(name)
			i = slices.IndexFunc(ix.docs, func(doc document) bool { return len(words) > 0 && slices.Equal(words, doc.words) })
			known = i >= 0
		}
		if known {
			a.add(ix.entries[i])
			continue
		}
		a.note(fmt.Sprintf("There is no tool %s.", shownName(name)) + nearestNote(ix.nearest(name)))
	}
	return a
}

// nearest returns the names that are most similar to a text: those that contain it or are contained in it,
// then those in which the fewest letters differ.
func (ix *index) nearest(text string) []string {
	wanted := beginning(strings.Join(terms.Words(beginning(text, maxQueryBytes)), ""), maxName)
	type candidate struct {
		name     string
		distance int
	}
	var all []candidate
	for i, doc := range ix.docs {
		if doc.key == "" || ix.byName[ix.entries[i].decl.Name] != i {
			continue
		}
		own, distance := beginning(doc.compact, maxName), 0
		if len(wanted) < minFragment || !strings.Contains(own, wanted) && !strings.Contains(wanted, own) {
			distance = levenshtein.ComputeDistance(wanted, own)
		}
		all = append(all, candidate{ix.entries[i].decl.Name, distance})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range all[:min(len(all), maxNearest)] {
		names = append(names, c.name)
	}
	return names
}

func nearestNote(names []string) string {
	if len(names) == 0 {
		return ""
	}
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = shownName(name)
	}
	return " The nearest names are " + strings.Join(shown, ", ") + "."
}
