package tokens_test

import (
	"fmt"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

func ExampleEstimate() {
	fmt.Println(tokens.Estimate("The meeting is moved to Thursday at 10:30."))
	fmt.Println(tokens.Estimate(`{"status":"ok","items":[1,2,3]}`))
	fmt.Println(tokens.Estimate("会议改到星期四。"))
	// Output:
	// 13
	// 15
	// 6
}

func ExampleOfContent() {
	call := genai.NewContentFromFunctionCall("find_hotel", map[string]any{"city": "Lisbon", "nights": 3}, "model")
	fmt.Println(tokens.OfContent(call))
	// Output: 13
}

func ExampleNewRegistry() {
	registry, err := tokens.NewRegistry(
		tokens.Model{Name: "house-llm", ContextWindow: 32_000, Tier: tokens.TierSmall},
		tokens.Model{Name: "gemini-2.5-pro", InputPrice: 1, CachedInputPrice: 0.1, OutputPrice: 8}, // negotiated
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	house, _ := registry.Lookup("publishers/acme/models/House-LLM-v2")
	fmt.Println(house.ContextWindow, house.Tier)

	pro, _ := registry.Lookup("models/gemini-2.5-pro")
	used := tokens.Usage{PromptTokens: 100_000, CachedTokens: 80_000, OutputTokens: 2_000}
	fmt.Printf("%d tokens of %d, $%.3f\n", used.Total(), pro.ContextWindow, pro.Cost(used))
	// Output:
	// 32000 small
	// 102000 tokens of 1048576, $0.044
}

func ExampleContextWindow() {
	fmt.Println(tokens.ContextWindow("claude-opus-4-7"))
	fmt.Println(tokens.ContextWindow("a-model-nobody-knows") == tokens.DefaultContextWindow)
	// Output:
	// 1000000
	// true
}
