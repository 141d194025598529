package main

import (
	"os"
	"testing"
)

func TestOurWaysLoseNothingOfRecordedConversations(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(dataFolder)
	if dir == "" {
		t.Skipf("%s names no folder with recorded conversations", dataFolder)
	}
	for _, tt := range []struct {
		file     string
		messages int
		window   int
	}{{"coding_agent_sessions.jsonl", 300, 32_000}, {"tau_airline_gpt4o.jsonl", 40, 8_000}} {
		found, err := long(dir, tt.file, tt.messages)
		if err != nil {
			t.Fatal(err)
		}
		all, ours := figures{}, figures{}
		for _, c := range found {
			all = all.add(played(t, c, named(t, "everything, always"), tt.window))
			ours = ours.add(played(t, c, named(t, "longsession, sliding window"), tt.window))
		}
		if all.missing > 0 || all.kept != all.results || all.unread > 0 || all.orphans > 0 || all.avoidable == 0 {
			t.Errorf("%s: %d prompts outgrow the window, and with nothing taken out of them: %+v", tt.file, all.over, all)
		}
		if missed := broken(ours); len(missed) > 0 || ours.calls == 0 || ours.prompt >= all.prompt {
			t.Errorf("%s: %v, %d of %d tokens sent, %d summaries", tt.file, missed, ours.prompt, all.prompt, ours.calls)
		}
	}
}
