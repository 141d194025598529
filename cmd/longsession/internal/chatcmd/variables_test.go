package chatcmd

import (
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
)

func TestOnlyAVariableLikeOneOfOursIsMistyped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, near string }{
		{"LONGSESSION_THRESOLD", " (did you mean LONGSESSION_THRESHOLD?)"},
		{"LONGSESSION_THRESHHOLD", " (did you mean LONGSESSION_THRESHOLD?)"},
		{"LONGSESSION_MODLE", " (did you mean LONGSESSION_MODEL?)"},
		{"LONGSESSION_model", " (did you mean LONGSESSION_MODEL?)"},
		{"LONGSESSION_MAX_SESSION_COST", " (did you mean LONGSESSION_MAX_SESSION_COST_USD?)"},
		{"LONGSESSION_CONIFG", " (did you mean LONGSESSION_CONFIG?)"},
		{"LONGSESSION_APIKEY", " (did you mean LONGSESSION_API_KEY?)"},
		{"LONGSESSION_DATA", ""}, {"LONGSESSION_SOAK", ""}, {"LONGSESSION_PICTURES", ""}, {"LONGSESSION_CHILD", ""},
		{"LONGSESSION_GEMINI_KEY", ""}, {"LONGSESSION_VERTEX_PROJECT", ""}, {"LONGSESSION_TEST_LOCK", ""},
		{"LONGSESSION_TEST_AS_COMMAND", ""}, {"LONGSESSION_TEST_MCP_SERVER", ""}, {"LONGSESSION_TEST_CHAT", ""},
		{"LONGSESSION_VICTIM_STEP", ""}, {"LONGSESSION_HOME", ""}, {"LONGSESSION_VERSION", ""},
	} {
		got := UnreadVariables([]string{"HOME=/root", c.name + "=secret", "LONGSESSION_EMPTY="})
		if len(got) != 1 || got[0] != (UnreadVariable{c.name, c.near}) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.near)
		}
	}
	var known []string
	for _, key := range config.Keys() {
		known = append(known, key.Environment()+"=x")
	}
	for _, name := range others {
		known = append(known, name+"=x")
	}
	if got := UnreadVariables(known); len(got) != 0 {
		t.Errorf("these are read: %q", got)
	}
}
