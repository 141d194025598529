package prompt_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

// A source may be a function. Sorted lines keep its text the same as long as the facts are.
func ExampleSourceFunc() {
	facts := []string{"The customer is on the annual plan.", "The customer prefers short answers."}
	memories := prompt.SourceFunc(func(context.Context) (string, error) {
		return strings.Join(facts, "\n"), nil
	})
	text, err := memories.Text(context.Background())
	fmt.Println(text, err)
	// Output:
	// The customer is on the annual plan.
	// The customer prefers short answers. <nil>
}
