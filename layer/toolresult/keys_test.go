package toolresult

import (
	"maps"
	"testing"
)

func TestToolsWhoseResultsTheAppReadsAreExempt(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]bool{
		"set_model_response": true, "transfer_to_agent": true, "exit_loop": true, "task_completed": true,
		"adk_request_confirmation": true, "adk_request_credential": true, "mine": true,
		"": false, "grep": false, "set_model": false, "request": false, ReadResultName: false,
	} {
		if got := exempt(tool, []string{"mine"}); got != want {
			t.Errorf("exempt(%q) = %v, want %v", tool, got, want)
		}
	}
}

func TestOnlyNotesOfLayersAreCopied(t *testing.T) {
	t.Parallel()
	to := map[string]any{"kept": true}
	copyNotes(to, map[string]any{"context_status": "[Context: 80% used]", "output": "x", refKey: "x"})
	if want := map[string]any{"kept": true, "context_status": "[Context: 80% used]"}; !maps.Equal(to, want) {
		t.Errorf("%v, want %v", to, want)
	}
}
