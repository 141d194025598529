package preset_test

import (
	"fmt"

	"github.com/adk-go-ext/longsession/preset"
)

// An operator starts an agent for the night. The model is in a file, the ceiling in the environment.
func Example() {
	var flags, file preset.Values
	for key, text := range map[string]string{"session.preset": "longrun", "session.unattended": "true"} {
		if err := flags.Set(key, text); err != nil {
			fmt.Println(err)
		}
	}
	if err := file.Set("agent.model", "claude-sonnet-4-6"); err != nil {
		fmt.Println(err)
	}
	environment, err := preset.Environment(func(name string) (string, bool) {
		return "7.50", name == "LONGSESSION_MAX_SESSION_COST_USD"
	})
	if err != nil {
		fmt.Println(err)
	}
	settings, err := preset.Resolve(preset.In{Flag: flags, Environment: environment, File: file})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(settings.Explain())
	// Output:
	// session.preset = longrun (flag --preset)
	// session.task_class = none (default)
	// session.unattended = true (flag --unattended)
	// agent.provider = anthropic (file agent.model)
	// agent.model = claude-sonnet-4-6, mid (file agent.model)
	// agent.agentic_small_model = claude-haiku-4-5
	//   (default tier small)
	// agent.agentic_tools = true (preset longrun)
	// session.ask = auto (default)
	// compaction.threshold = 0.65 (preset tier mid)
	// compaction.block_threshold = 0.98 (preset tier mid)
	// compaction.invocation_threshold = price (default)
	// session.checkpoint = model (preset longrun)
	// session.compact_context = true (preset longrun)
	// agent.max_turn_cost_usd = $1.0000 (preset longrun)
	// agent.max_session_cost_usd = $7.5000
	//   (environment LONGSESSION_MAX_SESSION_COST_USD)
	// agent.max_tool_iterations = 25 (preset longrun)
	// agent.landing = soft (default)
	// agent.unpriced = refuse (default for an unattended run)
	// safety.watchdog = stop (preset longrun)
	// safety.small_tier_parent = warn (default)
}
