package replaycmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
)

// maxPolicies bounds a grid: each policy plays every conversation anew.
const maxPolicies = 200

// gridExample is the remedy for a grid that cannot be read.
const gridExample = "write for example --grid 'threshold=3,5,10 overlap=1,2'"

// axis is a key of a grid and the values to try.
type axis struct {
	key    string
	values []string
}

// gridValue is the value of --grid: 'key=value,value key=value', whose keys are flags of the
// policy.
func gridValue(to *[]axis) setting.Value {
	return setting.New(func() string { return gridText(*to) }, func(text string) (err error) { *to, err = parseGrid(text); return err })
}

// parseGrid checks every value by itself, with the setting of the flag of that name. Combinations are
// checked when they are built.
func parseGrid(text string) ([]axis, error) {
	var scratch policy
	settings := scratch.settings()
	var axes []axis
	product := 1
	for _, word := range strings.Fields(text) {
		key, list, found := strings.Cut(word, "=")
		if !found || list == "" {
			return nil, fmt.Errorf("%q is not key=value,value: %s", word, gridExample)
		}
		s, known := setting.Find(settings, key)
		if !known {
			return nil, fmt.Errorf("unknown key %q: use %s", key, strings.Join(gridKeys(), ", "))
		}
		if slices.ContainsFunc(axes, func(a axis) bool { return a.key == key }) {
			return nil, fmt.Errorf("key %q appears twice: list all its values after one", key)
		}
		a := axis{key: key}
		for value := range strings.SplitSeq(list, ",") {
			if err := s.Value.Set(value); err != nil {
				return nil, fmt.Errorf("%s %w", key, err)
			}
			value = s.Value.String() // 05 is 5
			if slices.Contains(a.values, value) {
				return nil, fmt.Errorf("%s=%s appears twice: leave one out", key, value)
			}
			a.values = append(a.values, value)
		}
		axes = append(axes, a)
		product *= len(a.values)
		if product > maxPolicies {
			return nil, fmt.Errorf("more than %d combinations: list fewer values, or run several grids", maxPolicies)
		}
	}
	if len(axes) == 0 {
		return nil, &setting.Refused{Reason: gridExample}
	}
	return axes, nil
}

// gridText writes a grid as parseGrid takes it.
func gridText(axes []axis) string {
	var words []string
	for _, a := range axes {
		words = append(words, a.key+"="+strings.Join(a.values, ","))
	}
	return strings.Join(words, " ")
}

// gridKeys are the keys of a grid.
func gridKeys() []string {
	var p policy
	var keys []string
	for _, s := range p.settings() {
		keys = append(keys, s.Name)
	}
	return keys
}

// combination is a point of a grid.
type combination struct {
	name   string
	policy policy
}

// combine returns every combination of the axes on top of base. The last axis varies fastest: for
// 'threshold=3,5 overlap=1,2' the points are 3 1, 3 2, 5 1 and 5 2.
func combine(base policy, axes []axis) []combination {
	all := []combination{{policy: base}}
	for _, a := range axes {
		var next []combination
		for _, c := range all {
			for _, value := range a.values {
				varied := c
				s, _ := setting.Find(varied.policy.settings(), a.key)
				_ = s.Value.Set(value) // parseGrid has checked the key and the value
				varied.name = strings.TrimSpace(c.name + " " + a.key + "=" + value)
				next = append(next, varied)
			}
		}
		all = next
	}
	return all
}
