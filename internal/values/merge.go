package values

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/record"
)

// key is equal for values that say the same.
func key(v *record.Value) string {
	text := v.Text
	if !inContext(v.Kind) {
		_, text = parts(v)
	}
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}

// parts splits a value's text into the words before the value, and the value.
func parts(v *record.Value) (before, core string) {
	switch plain(v.Kind) {
	case kindOwn:
		for _, verb := range []string{" is ", " are ", " was "} {
			if at := strings.Index(v.Text, verb); at >= 0 {
				return v.Text[:at+len(verb)-1], v.Text[at+len(verb):]
			}
		}
		return "", v.Text
	case kindID:
		if at := strings.LastIndexByte(v.Text, ' '); at >= 0 {
			return v.Text[:at], v.Text[at+1:]
		}
		return "", v.Text
	case kindDate, kindNumber, kindMoney, kindCount:
	default:
		return "", v.Text
	}
	// the value begins with its first word that has a digit or names a month, a day or a number
	at := 0
	for word := range strings.SplitSeq(v.Text, " ") {
		w := strings.ToLower(strings.TrimRight(word, ",.:"))
		if strings.ContainsAny(word, "0123456789") || months[w] || weekdays[w] || dayWords[w] || isCount(w) || strings.ContainsAny(word, hanNumerals) {
			return strings.TrimSuffix(v.Text[:at], " "), v.Text[at:]
		}
		at += len(word) + 1
	}
	return "", v.Text
}

func isCount(w string) bool {
	first, _, _ := strings.Cut(w, "-")
	return numberWords[first]
}

// newer unites two values with one key: the user's words before those of others, then the newer.
func newer(a, b record.Value) record.Value {
	if byUser := cmp.Compare(boolInt(b.Author == "user"), boolInt(a.Author == "user")); byUser < 0 ||
		byUser == 0 && cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Event, a.Event), cmp.Compare(b.Text, a.Text), cmp.Compare(b.Kind, a.Kind)) < 0 {
		a, b = b, a
	}
	b.Score = max(a.Score, b.Score)
	return b
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// toolShare is how much of a list the values of tools may take up while there are others: a part of 4.
const toolShare = 4

// Merge unites lists: values with one key become one, which counts the uses of all. The best that take up at most
// maxTokens are kept, the best first. A value that a later one corrects stays, behind all others. The result does
// not depend on the order of the lists. If maxTokens is 0 or less, there are none.
func Merge(maxTokens int, lists ...[]record.Value) []record.Value {
	return cut(unite(lists), maxTokens)
}

// unite returns the values of all lists, each once, the best first.
func unite(lists [][]record.Value) []record.Value {
	groups := map[string][]record.Value{}
	for _, list := range lists {
		for _, v := range list {
			if v.Text = clean(v.Text); v.Text != "" {
				k := key(&v)
				groups[k] = append(groups[k], v)
			}
		}
	}
	out := make([]record.Value, 0, len(groups))
	for _, group := range groups {
		out = append(out, united(group))
	}
	slices.SortFunc(out, better)
	return out
}

// united returns the values of a group as one. A value that two lists took from one event is counted once.
func united(group []record.Value) record.Value {
	uses := map[string]int{}
	out := group[0]
	for i, v := range group {
		if i > 0 {
			out = newer(out, v)
		}
		id := v.Event + "\x00" + v.At.UTC().Format("20060102150405.000000")
		uses[id] = max(uses[id], min(max(v.Uses, 0), 1<<20))
	}
	out.Uses = len(uses) - 1
	for n := range maps.Values(uses) {
		out.Uses += n
	}
	return out
}

// cut returns the best values that take up at most maxTokens, the best first. Values of tools take up more than
// their share only where others leave room, and values that are replaced what all others leave.
func cut(sorted []record.Value, maxTokens int) []record.Value {
	if maxTokens <= 0 {
		return nil
	}
	replaced := corrections(sorted)
	taken := make([]bool, len(sorted))
	left := maxTokens
	pass := func(limit int, wanted func(i int) bool) {
		for i := range sorted {
			n := cost(&sorted[i])
			if taken[i] || n > left || n > limit || !wanted(i) {
				continue
			}
			taken[i] = true
			left -= n
			limit -= n
		}
	}
	ofTool := func(i int) bool { return has(sorted[i].Kind, markTool) }
	pass(maxTokens/toolShare, func(i int) bool { return !replaced[i] && ofTool(i) })
	pass(left, func(i int) bool { return !replaced[i] && !ofTool(i) })
	pass(left, func(i int) bool { return !replaced[i] })
	pass(left, func(int) bool { return true })
	var out []record.Value
	for _, want := range []bool{false, true} {
		for i := range sorted {
			if taken[i] && replaced[i] == want {
				out = append(out, sorted[i])
			}
		}
	}
	return out
}
