package replay_test

import (
	"context"
	"fmt"
	"log"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
)

// everyThreeTurns is an app's policy. A real test takes the configuration of the app itself.
func everyThreeTurns(s compaction.Summarizer) replay.Policy {
	return replay.Policy{Name: "every 3 turns", Config: compaction.Config{
		Summarizer:          s,
		InvocationThreshold: 3,
		OverlapSize:         1,
		ContextWindow:       32_000,
		Synchronous:         true, // so that every run gives the same report
	}}
}

// Play shows what a policy does to a recorded conversation.
func ExamplePlay() {
	trips, err := conversation.ReadFile("testdata/trip.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	report, err := replay.Play(context.Background(), trips[0], everyThreeTurns(summarizer.Extractive{}), replay.Options{
		Facts: []string{"XK7P2"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d turns, %d compactions\n", report.Turns, len(report.Compactions))
	fmt.Printf("violations: %d, facts lost: %d\n", report.Hidden, len(report.Lost))
	fmt.Printf("check: %v\n", replay.Checker{MinKept: 100}.Check(report))
	// Output:
	// 8 turns, 2 compactions
	// violations: 0, facts lost: 0
	// check: <nil>
}

// A test of the app fails when the policy loses a fact:
//
//	if err := checker.Check(report); err != nil {
//		t.Error(err)
//	}
func ExampleChecker() {
	trips, err := conversation.ReadFile("testdata/trip.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	// This summarizer writes fluent text and drops the booking code.
	forgetful := summarizer.Func(func(context.Context, summarizer.Request) (summarizer.Result, error) {
		text := "Dana plans a trip to Lisbon, by plane and with a hotel near the river."
		return summarizer.Result{Content: genai.NewContentFromText(text, genai.RoleModel)}, nil
	})
	policy := everyThreeTurns(forgetful)
	policy.Config.MaxLedgerTokens = compaction.Off // the values behind the summary would have the code
	report, err := replay.Play(context.Background(), trips[0], policy, replay.Options{
		Facts: []string{"XK7P2", "Lisbon"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(replay.Checker{MinKept: 100}.Check(report))
	// Output:
	// conversation lisbon, policy "every 3 turns":
	//   facts: "XK7P2" is in no message and in no summary at the end
	//   questions: the last prompt answers 0 of 2 questions (0.0%, want 100.0%); the first that it does not: "Which booking code does Dana have?"
}

// Compare plays a conversation under two policies. The recorded messages, and so the prompts
// without compaction, are the same for both.
func ExampleCompare() {
	trips, err := conversation.ReadFile("testdata/trip.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	often, never := everyThreeTurns(summarizer.Extractive{}), everyThreeTurns(summarizer.Extractive{})
	never.Name, never.When = "no compaction", replay.Never
	reports, err := replay.Compare(context.Background(), trips[0], []replay.Policy{often, never}, replay.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range reports {
		fmt.Printf("%-13s  model calls: %d, questions answered: %d of %d, smaller: %t\n",
			r.Policy, r.With.ModelCalls, r.Facts.Kept, r.Facts.Questions, r.SavedPercent > 0)
	}
	// Output:
	// every 3 turns  model calls: 8, questions answered: 2 of 2, smaller: true
	// no compaction  model calls: 8, questions answered: 2 of 2, smaller: false
}
