package unknowntool_test

import (
	"fmt"
	"testing"

	"github.com/adk-go-ext/longsession/internal/unknowntool"
)

func TestWithDeferralTheTextLeadsToTheSearch(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 202)
	for i := range 200 {
		many = append(many, fmt.Sprintf("t%03d", i))
	}
	many = append(many, "tool_call", "tool_search")
	for _, r := range []struct {
		name, called string
		tools        []string
		want         string
	}{
		{"nothing similar", "zebra", many, `There is no tool "zebra". Find tools with tool_search.`},
		{"similar names", "get_wether", []string{"get_weather", "tool_call", "tool_search"}, `There is no tool "get_wether". Did you mean get_weather? Find tools with tool_search.`},
		{"three of many", "t00", many, `There is no tool "t00". Did you mean t000, t001, t002? Find tools with tool_search.`},
		{"a vanished tool", "crm_lookup", []string{"tool_call", "tool_search"}, `There is no tool "crm_lookup". Find tools with tool_search.`},
		{"never our own", "tool", []string{"tool_call", "tool_search"}, `There is no tool "tool". Find tools with tool_search.`},
		{"a tool_search of the app alone", "tool_serch", []string{"tool_search"}, `There is no tool "tool_serch". Did you mean tool_search?`},
	} {
		if got := unknowntool.Text(r.called, r.tools); got != r.want {
			t.Errorf("%s: %q, want %q", r.name, got, r.want)
		}
	}
}
