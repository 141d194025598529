package workload

import (
	"context"
	"fmt"

	"google.golang.org/adk/session"
	"google.golang.org/genai"
)

// perTurn is the number of events in a turn: a question, a call, its response and an answer.
const perTurn = 4

// event returns the n-th event, from 0, of a conversation with tools. Texts, arguments and results
// have realistic lengths. ADK sets the ID and the time.
func event(ctx context.Context, n int) *session.Event {
	ev := session.NewEventWithContext(ctx, invocation(n/perTurn))
	ev.Author = "assistant"
	call := fmt.Sprintf("adk-0b9c2f5e-6d0a-4c58-9d3f-%012d", n/perTurn)
	args := map[string]any{"order_id": fmt.Sprintf("ORD-%d", n/perTurn), "fields": []any{"status", "carrier", "eta"}, "limit": 10.0}
	switch n % perTurn {
	case 0:
		ev.Author = "user"
		ev.Content = genai.NewContentFromText(fmt.Sprintf("Where is my order ORD-%d? It should have come on Tuesday, and nobody answers the phone.", n/perTurn), genai.RoleUser)
	case 1:
		ev.Content = &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: call, Name: "look_up_order", Args: args}}}}
		reported(ev, 1500, 30)
	case 2:
		ev.Content = &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: call, Name: "look_up_order", Response: map[string]any{
			"status": "in transit", "carrier": "Parcel & Sons", "eta": "2026-03-04T12:00:00Z", "stops": []any{"Hamburg", "Hannover", "Kassel"}, "attempts": 2.0, "request": args,
		}}}}}
	default:
		ev.Content = genai.NewContentFromText(fmt.Sprintf("Your order ORD-%d is in transit with Parcel & Sons. It left Kassel this morning and should be with you on Wednesday by noon. I am sorry that nobody answered: the line is busy after the holidays.", n/perTurn), genai.RoleModel)
		reported(ev, 1600, 60)
		ev.AvgLogprobs = -0.25
	}
	return ev
}

func invocation(turn int) string { return fmt.Sprintf("e-8f14e45f-ceea-467f-a0e6-%012d", turn) }

func reported(ev *session.Event, prompt, output int32) {
	ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
		PromptTokenCount: prompt, CandidatesTokenCount: output, TotalTokenCount: prompt + output,
	}
	ev.FinishReason, ev.ModelVersion = genai.FinishReasonStop, "gemini-2.5-flash"
}
