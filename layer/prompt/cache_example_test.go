package prompt_test

import (
	"context"
	"fmt"
	"log"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/tokens"
)

// Measure before you pay for storage: the share of the prompt that the provider caches by itself is in the
// usage of each response (CachedContentTokenCount).
func ExampleCacheBreakEven() {
	pro, _ := tokens.Lookup("gemini-2.5-pro")
	for _, implicit := range []float64{0, 0.5, 0.9} {
		perHour, _ := prompt.CacheBreakEven(pro, implicit)
		fmt.Printf("%2.0f%% cached implicitly: pays from %2.0f requests per hour on\n", 100*implicit, perHour)
	}
	// Output:
	//  0% cached implicitly: pays from  4 requests per hour on
	// 50% cached implicitly: pays from  8 requests per hour on
	// 90% cached implicitly: pays from 40 requests per hour on
}

func ExampleCache_Model() {
	var gemini model.LLM = &provider{} // in an app, the result of gemini.NewModel

	cache, err := prompt.NewCache(prompt.CacheConfig{Enabled: true, Client: newCaches()}) // an app leaves Client out
	if err != nil {
		log.Fatal(err)
	}
	llm := cache.Model(gemini) // for llmagent.Config.Model; every other wrapper goes around it
	fmt.Println(llm.Name())

	// When the app ends:
	if err := cache.Close(context.Background()); err != nil {
		log.Print(err) // names each cache that is still billed
	}
	fmt.Printf("%+.4f USD\n", cache.Stats().Net())
	// Output:
	// gemini-2.5-pro
	// +0.0000 USD
}
