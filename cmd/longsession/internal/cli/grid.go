package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxPolicies bounds a grid: each policy plays every conversation anew.
const maxPolicies = 200

// gridKeys may stand in a grid. They are the names of flags.
var gridKeys = []string{
	"threshold", "overlap", "context-window", "token-threshold", "safety-ratio",
	"retain", "max-summaries", "max-summary-tokens", "summarizer",
}

// axis is one key of a grid with the values to try.
type axis struct {
	key    string
	values []string
}

// parseGrid reads 'key=value,value key=value'. Every value is checked, and so is their product.
func parseGrid(text string) ([]axis, error) {
	var axes []axis
	product := 1
	for _, word := range strings.Fields(text) {
		key, list, found := strings.Cut(word, "=")
		if !found || list == "" {
			return nil, badInput("--grid: %q is not key=value,value: write for example --grid 'threshold=3,5,10 overlap=1,2'", word)
		}
		if !slices.Contains(gridKeys, key) {
			return nil, badInput("--grid: unknown key %q: use %s", key, strings.Join(gridKeys, ", "))
		}
		if slices.ContainsFunc(axes, func(a axis) bool { return a.key == key }) {
			return nil, badInput("--grid: key %q stands there twice: list all its values after one", key)
		}
		a := axis{key: key, values: strings.Split(list, ",")}
		for i, value := range a.values {
			var p policyFlags
			if err := p.set(key, value); err != nil {
				return nil, badInput("--grid: %s=%s: %v", key, value, err)
			}
			a.values[i] = p.get(key) // 05 is 5
			if slices.Contains(a.values[:i], a.values[i]) {
				return nil, badInput("--grid: %s=%s stands there twice: leave one out", key, a.values[i])
			}
		}
		axes = append(axes, a)
		product *= len(a.values)
		if product > maxPolicies {
			return nil, badInput("--grid: more than %d combinations: list fewer values, or run several grids", maxPolicies)
		}
	}
	if len(axes) == 0 {
		return nil, badInput("--grid is empty: write for example --grid 'threshold=3,5,10 overlap=1,2'")
	}
	return axes, nil
}

// combination is one point of a grid.
type combination struct {
	name  string
	flags policyFlags
}

// combine returns every combination of the axes, the last one varying fastest, on top of base.
func combine(base policyFlags, axes []axis) []combination {
	all := []combination{{flags: base}}
	for _, a := range axes {
		var next []combination
		for _, c := range all {
			for _, value := range a.values {
				varied := c
				_ = varied.flags.set(a.key, value) // parseGrid has tried each value
				varied.name = strings.TrimSpace(c.name + " " + a.key + "=" + value)
				next = append(next, varied)
			}
		}
		all = next
	}
	return all
}

// outOfRange is said of a number that no int holds, such as -99999999999999999999.
const outOfRange = "the number is out of range"

// number returns where the number of a key is kept; nil for a key that is no whole number.
func (p *policyFlags) number(key string) *int {
	switch key {
	case "threshold":
		return &p.threshold
	case "overlap":
		return &p.overlap
	case "context-window":
		return &p.window
	case "token-threshold":
		return &p.tokens
	case "retain":
		return &p.retain
	case "max-summaries":
		return &p.summaries
	case "max-summary-tokens":
		return &p.summaryTokens
	}
	return nil
}

// set sets the flag that a key names.
func (p *policyFlags) set(key, value string) error {
	switch key {
	case "summarizer":
		if !slices.Contains(summarizers, value) {
			return fmt.Errorf("%q is no summarizer: use %s", value, strings.Join(summarizers, ", "))
		}
		p.summarizer = value
	case "safety-ratio":
		ratio, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%q is no number: use a share from 0 to 1, such as 0.7", value)
		}
		p.ratio = ratio
	default:
		n, err := strconv.Atoi(value)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("%q: %s", value, outOfRange)
		case err != nil:
			return fmt.Errorf("%q is no whole number", value)
		}
		*p.number(key) = n
	}
	return nil
}

// get returns the value that set takes.
func (p *policyFlags) get(key string) string {
	switch key {
	case "summarizer":
		return p.summarizer
	case "safety-ratio":
		return strconv.FormatFloat(p.ratio, 'g', -1, 64)
	default:
		return strconv.Itoa(*p.number(key))
	}
}
