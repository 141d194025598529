package kept

import (
	"github.com/adk-go-ext/longsession/internal/values"
	"github.com/adk-go-ext/longsession/record"
)

// Share returns which share of values some texts hold, from 0 to 1, and those that they do not hold, in the order of the
// values. A value is held as [Source.Check] looks for it. Without values, measured is false.
func Share(list []record.Value, texts ...string) (share float64, missing []string, measured bool) {
	s := NewSource(nil, texts...)
	all := 0
	for i := range list {
		one, found := values.Core(&list[i])
		if !found {
			continue
		}
		all++
		if !s.holds(one) {
			missing = append(missing, list[i].Text)
		}
	}
	if all == 0 {
		return 0, nil, false
	}
	return float64(all-len(missing)) / float64(all), missing, true
}

// holds reports whether the source has a value, a number also in another form.
func (s *Source) holds(v values.Exact) bool {
	if s.has(v.Text) {
		return true
	}
	if v.Kind != values.Number && v.Kind != values.Money {
		return false
	}
	all := true
	eachNumber(v.Text, func(n number) {
		all = all && len(n.readings) > 0 && s.near(n.readings[len(n.readings)-1], 0)
	})
	return all
}
