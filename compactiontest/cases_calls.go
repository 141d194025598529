package compactiontest

import (
	"google.golang.org/genai"

	"google.golang.org/adk/tool/toolconfirmation"
)

func callCases() []Case {
	return []Case{
		{
			Name: "calls and responses stay together",
			Explain: "Checks that a tool call and all its responses are shown or hidden together. Providers reject a prompt with a response whose call is " +
				"missing (HTTP 400: the session is dead from then on), and ADK silently drops the response. After a call without its response, the model waits or calls again.",
			Check: playing(func(p *play) {
				for range 8 {
					p.tools(1)
					p.chat(1)
					p.check()
				}
				p.checkCompacted()
			}),
		},
		{
			Name: "an open call waits for its answer",
			Explain: "Checks that a long-running tool's call stays unchanged until its real answer arrives, however late. ADK looks up the call when the " +
				"answer arrives. If the call is hidden, ADK drops the answer or fails the turn, and the user's approval or the finished job is lost.",
			Check: playing(checkLongCall),
		},
		{
			Name: "a confirmation waits for its answer",
			Explain: "Checks that a call that needs a confirmation, and the request for it, stay unchanged until the user decides. If either is hidden, " +
				"ADK does not run the approved tool, or drops its result. Some backends do not store which event asked for the confirmation, so the view must recognize it by the call itself.",
			Check: playing(checkConfirmation),
		},
		{
			Name: "an interrupted call has a response",
			Explain: "Checks that a call whose turn was cut off, by Ctrl-C or the end of the process, is shown with a response that reports the interruption, or with the real " +
				"response if it arrives after all. Gemini, OpenAI and Anthropic reject every prompt with an unanswered call: the session is dead from then on.",
			Check: playing(checkInterruptedCall),
		},
	}
}

func checkInterruptedCall(p *play) {
	p.chat(2)
	for range 3 {
		inv := p.invocation()
		p.ask(inv)
		p.call(inv, inv+"cut", inv+"done")
		p.respond(inv, "agent", "done", inv+"done")
		p.say()
		p.check() // the turn may still be running
		p.chat(1)
		p.check()
	}
	inv := p.invocation()
	p.ask(inv)
	p.call(inv, "slow")
	p.say()
	p.chat(1)
	p.check()
	p.respond(inv, "agent", "done at last", "slow") // as if two turns had run at once
	p.answer(inv, "agent")
	p.say()
	p.check()
	p.chat(14)
	p.checkCompacted()
	p.check()
}

func checkLongCall(p *play) {
	p.chat(2)
	inv := p.invocation()
	p.ask(inv)
	p.call(inv, "long")
	p.h.Long("long")
	call := len(p.h.Events) - 1
	p.respond(inv, "agent", "pending", "long") // ADK stores a placeholder at once
	p.answer(inv, "agent")
	p.say()
	p.chat(14)
	p.checkCompacted()
	p.check()
	p.checkRaw("an open call", call)
	inv = p.invocation()
	p.respond(inv, genai.RoleUser, "done", "long")
	p.say()
	p.check()
	p.checkRaw("the call of a late answer", call)
	p.answer(inv, "agent")
	p.say()
	p.chat(14)
	p.check()
}

func checkConfirmation(p *play) {
	p.chat(2)
	inv := p.invocation()
	p.ask(inv)
	p.call(inv, "danger")
	call := len(p.h.Events) - 1
	p.respond(inv, "agent", "needs a confirmation", "danger")
	p.h.Last().Actions.SkipSummarization = true
	p.h.Last().Actions.RequestedToolConfirmations = map[string]toolconfirmation.ToolConfirmation{"danger": {}}
	original := map[string]any{"id": "danger", "name": "look", "args": map[string]any{"for": "the thing"}}
	p.h.Add(inv, "agent", &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{
		ID: "ask", Name: toolconfirmation.FunctionCallName, Args: map[string]any{"originalFunctionCall": original, "why": p.fact()},
	}}}}).Long("ask")
	request := len(p.h.Events) - 1
	p.say()
	p.chat(14)
	p.checkCompacted()
	p.check()
	p.checkRaw("a call waiting for a confirmation", call)
	p.checkRaw("a request for a confirmation", request)
	inv = p.invocation()
	p.h.Add(inv, genai.RoleUser, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
		ID: "ask", Name: toolconfirmation.FunctionCallName, Response: map[string]any{"confirmed": true, "note": p.fact()},
	}}}})
	p.say()
	p.check()
	p.checkRaw("a call that was just confirmed", call)
	p.respond(inv, "agent", "done", "danger")
	p.answer(inv, "agent")
	p.say()
	p.chat(14)
	p.check()
}

// checkRaw checks that the event at a position is shown unchanged.
func (p *play) checkRaw(what string, position int) {
	if !p.look(p.live).shows(position) {
		p.add("%s, event %s, is hidden from the handle of the turn", what, p.said[position].ID)
	}
	if !p.look(p.fresh()).shows(position) {
		p.add("%s, event %s, is hidden from a new handle", what, p.said[position].ID)
	}
}
